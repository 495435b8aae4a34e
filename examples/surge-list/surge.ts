// Lines of a list that Surge reads with `policy-path`: name = kind, host, port, key=value, … Source: manual.nssurge.com, Proxy Policy.
import { type EntryTemplate, isOf, valueFor } from '@weir-panel/weir/plugins/inbounds';
import type { EntryFill, WriteEntry } from '@weir-panel/weir/plugins/subscription';

/** The words of a line that follow host and port. */
type Words = (client: EntryFill['client']) => readonly string[];

/** A comma or a space would end an unquoted value. */
const value = (text: string): string =>
  /^[\w./+=:@-]+$/.test(text) ? text : `"${text.replaceAll(/["\r\n]/g, '')}"`;
const pair = (key: string, text = ''): string[] => (text === '' ? [] : [`${key}=${value(text)}`]);
/** The name ends at the first `=`, and a comma separates. */
const nameOf = (remark: string): string =>
  remark
    .replaceAll(/[\s=,"]+/g, ' ')
    .replace(/^[\s#;[]+/, '')
    .trim() || 'proxy';

/** Why Surge cannot use an entry; undefined when it can. */
export function surgeCannot(entry: EntryTemplate): string | undefined {
  const { account, transport, security } = entry;
  const { protocol } = account;
  if (!['trojan', 'vmess', 'shadowsocks'].includes(protocol)) return `Surge has no ${protocol}`;
  if (security.kind === 'reality') return 'Surge has no REALITY';
  if (transport.kind === 'tcp' && transport.http) return 'Surge has no HTTP header above TCP';
  if (transport.kind !== 'tcp' && transport.kind !== 'ws') return `Surge has no ${transport.kind}`;
  if (protocol === 'trojan' && security.kind !== 'tls') return 'Surge has no trojan without TLS';
  if (protocol === 'shadowsocks' && (security.kind === 'tls' || transport.kind === 'ws'))
    return 'Surge has no shadowsocks over TLS or WebSocket';
  return entry.finalMask?.tcp?.some(({ kind }) => kind === 'sudoku') ? 'Surge has no sudoku' : undefined;
}

/** The transport parameters. */
function wayOf({ transport, security }: EntryTemplate): string[] {
  const tls =
    security.kind === 'tls'
      ? [...pair('sni', security.serverName), ...(security.allowInsecure ? ['skip-cert-verify=true'] : [])]
      : [];
  if (transport.kind !== 'ws') return tls;
  const host = transport.host === '' ? '' : `Host:${transport.host}`;
  return ['ws=true', ...pair('ws-path', transport.path), ...pair('ws-headers', host), ...tls];
}

function accountOf(entry: EntryTemplate): readonly [kind: string, words: Words] {
  if (isOf(entry, 'trojan')) {
    const { password } = entry.account;
    return ['trojan', (client) => pair('password', valueFor(password, client))];
  }
  if (isOf(entry, 'vmess')) {
    const tls = entry.security.kind === 'tls' ? ['tls=true'] : [];
    return [
      'vmess',
      (client) => [`username=${valueFor(entry.account.id, client)}`, 'vmess-aead=true', ...tls],
    ];
  }
  if (isOf(entry, 'shadowsocks')) {
    const { method, serverKey, password } = entry.account;
    return [
      'ss',
      (client) => {
        // Methods of 2022: the key of the server, then that of the client.
        const keys = [valueFor(serverKey, client), valueFor(password, client)].filter(Boolean);
        return [`encrypt-method=${valueFor(method, client)}`, ...pair('password', keys.join(':'))];
      },
    ];
  }
  throw new Error(`Surge has no ${entry.account.protocol}`);
}

/** Compiles the line of an entry that Surge can express. */
export function lineOf(entry: EntryTemplate): WriteEntry {
  const [kind, account] = accountOf(entry);
  const way = wayOf(entry);
  return ({ client, server, name }) =>
    `${nameOf(name)} = ${[kind, server, entry.port, ...account(client), ...way].join(', ')}`;
}

/** Surge rejects a list with duplicate names. */
export function listOf(lines: readonly string[]): string {
  const seen = new Map<string, number>();
  return lines
    .map((line) => {
      const end = line.indexOf(' = ');
      const name = line.slice(0, end);
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      return `${count === 1 ? name : `${name} ${count}`}${line.slice(end)}\n`;
    })
    .join('');
}
