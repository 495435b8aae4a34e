// Lines of a list that Surge reads by `policy-path`: name = kind, host, port, key=value, … Source: manual.nssurge.com, Proxy Policy.
import { viewStream } from '@weir-panel/weir/plugins/inbounds';
import type { Entry, EntryFill, EntryTemplate } from '@weir-panel/weir/plugins/subscription';

type Values = Readonly<Record<string, unknown>>;
/** What an account adds to the line; undefined values are left out. */
type Account = (fill: EntryFill) => readonly string[];

const objectOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null ? (value as Values) : {};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** A comma or a space would end a value that stands bare. */
const value = (text: string): string =>
  /^[\w./+=:@-]+$/.test(text) ? text : `"${text.replaceAll(/["\r\n]/g, '')}"`;
const pair = (key: string, text: string): string[] => (text === '' ? [] : [`${key}=${value(text)}`]);
/** The name ends at the first `=`, and a comma separates. */
const nameOf = (remark: string): string =>
  remark
    .replaceAll(/[\s=,"]+/g, ' ')
    .replace(/^[\s#;[]+/, '')
    .trim() || 'proxy';

/** How the bytes travel; undefined where Surge cannot follow. */
function wayOf({
  inbound,
}: Entry): { readonly tls: boolean; readonly ws: boolean; readonly words: readonly string[] } | undefined {
  const { network, security } = viewStream(inbound.streamSettings);
  const tcp = objectOf(inbound.streamSettings['tcpSettings'] ?? inbound.streamSettings['rawSettings']);
  const plain = network === 'tcp' && textOf(objectOf(tcp['header'])['type']) !== 'http';
  if ((!plain && network !== 'ws') || security === 'reality') return undefined;
  const ws = objectOf(inbound.streamSettings['wsSettings']);
  return {
    tls: security === 'tls',
    ws: network === 'ws',
    words: [
      ...(network === 'ws'
        ? [
            'ws=true',
            ...pair('ws-path', textOf(ws['path']) || '/'),
            ...pair('ws-headers', ws['host'] ? `Host:${textOf(ws['host'])}` : ''),
          ]
        : []),
      ...(security === 'tls'
        ? pair('sni', textOf(objectOf(inbound.streamSettings['tlsSettings'])['serverName']))
        : []),
    ],
  };
}

/** Compiles the line of an entry; undefined for what Surge does not speak. */
export function lineOf(entry: Entry): EntryTemplate | undefined {
  const { inbound, protocol } = entry;
  const way = wayOf(entry);
  if (!way) return undefined;
  const kinds: Readonly<Record<string, readonly [kind: string, fits: boolean, account: Account]>> = {
    trojan: ['trojan', way.tls, ({ client }) => pair('password', client.password)],
    vmess: [
      'vmess',
      true,
      ({ client }) => [`username=${client.uuid}`, 'vmess-aead=true', ...(way.tls ? ['tls=true'] : [])],
    ],
    shadowsocks: [
      'ss',
      !way.ws && !way.tls,
      ({ client }) => {
        const method = textOf(inbound.settings['method']);
        const account = protocol.account(client, inbound);
        // Of 2022: the key of the server, then that of the client.
        const password =
          account.protocol === 'shadowsocks-2022'
            ? `${textOf(inbound.settings['password'])}:${account.key}`
            : client.password;
        return [`encrypt-method=${method}`, ...pair('password', password)];
      },
    ],
  };
  const [kind, fits, account] = kinds[protocol.name] ?? [];
  if (!kind || !fits || !account) return undefined;
  return (fill) => {
    const colon = fill.authority.lastIndexOf(':');
    const host = fill.authority.slice(0, colon).replaceAll(/[[\]]/g, '');
    return `${nameOf(fill.remark)} = ${[kind, host, fill.authority.slice(colon + 1), ...account(fill), ...way.words].join(', ')}`;
  };
}

/** Surge refuses a list in which two have one name. */
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
