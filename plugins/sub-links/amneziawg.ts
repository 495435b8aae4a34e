// A link of AmneziaWG: the config file that the program AmneziaVPN imports, as one base64url text. Source: docs.amnezia.org.
import { type Account, type AccountValue, type EntryTemplate, valueFor } from '../inbounds/contract.js';
import type { WriteLink } from './share-link.js';

/** Lines of `[Interface]` in their order: the key there, the field, and when it stands there. */
const DISGUISE: readonly (readonly [
  key: string,
  field: string,
  kind: 'always' | 'positive' | 'text' | 'flag',
])[] = [
  ['Jc', 'jc', 'always'],
  ['Jmin', 'jmin', 'always'],
  ['Jmax', 'jmax', 'always'],
  ['S1', 's1', 'always'],
  ['S2', 's2', 'always'],
  ['S3', 's3', 'positive'],
  ['S4', 's4', 'positive'],
  ['H1', 'h1', 'text'],
  ['H2', 'h2', 'text'],
  ['H3', 'h3', 'text'],
  ['H4', 'h4', 'text'],
  ...[1, 2, 3, 4, 5].map((i) => [`I${i}`, `i${i}`, 'text'] as const),
  ['HeaderProtectionKey', 'headerProtectionKey', 'text'],
  ['ContentPaddingAddition', 'contentPaddingAddition', 'text'],
  ['RekeyAfterTime', 'rekeyAfterTime', 'text'],
  ['RekeyTimeout', 'rekeyTimeout', 'text'],
  ['RejectAfterTime', 'rejectAfterTime', 'text'],
  ['KeepaliveTimeout', 'keepaliveTimeout', 'text'],
  ['MaxHandshakeAttempts', 'maxHandshakeAttempts', 'text'],
  ['RandomTrailers', 'randomTrailers', 'flag'],
  ['DisableCookies', 'disableCookies', 'flag'],
];
/** Types of messages where the server does not disguise them. */
const PLAIN: Readonly<Record<string, number>> = { h1: 1, h2: 2, h3: 3, h4: 4 };

type Values = Readonly<Record<string, AccountValue | undefined>>;

function disguise(values: Values): string[] {
  return DISGUISE.flatMap(([key, field, kind]) => {
    const value = values[field] ?? PLAIN[field];
    if (kind === 'flag') return value === true ? [`${key} = on`] : [];
    if (kind === 'always') return [`${key} = ${Number(value ?? 0)}`];
    if (kind === 'positive') return Number(value) > 0 ? [`${key} = ${Number(value)}`] : [];
    return value === undefined || value === '' ? [] : [`${key} = ${String(value)}`];
  });
}

/** The config file; undefined where a value would add a line of its own. */
function configOf(values: Values, endpoint: string, remark: string): string | undefined {
  const text = (name: string): string => String(values[name] ?? '');
  const address = values['address'];
  const lines = [
    '[Interface]',
    `PrivateKey = ${text('privateKey')}`,
    `Address = ${Array.isArray(address) ? address.join(', ') : ''}`,
    ...(text('dns') ? [`DNS = ${text('dns')}`] : []),
    `MTU = ${text('mtu')}`,
    ...disguise(values),
    '',
    `# ${remark}`,
    '[Peer]',
    `PublicKey = ${text('publicKey')}`,
    ...(text('preSharedKey') ? [`PresharedKey = ${text('preSharedKey')}`] : []),
    'AllowedIPs = 0.0.0.0/0, ::/0',
    `Endpoint = ${endpoint}`,
    ...(Number(values['keepAlive']) > 0 ? [`PersistentKeepalive = ${text('keepAlive')}`] : []),
  ];
  return lines.some((line) => /[\r\n]/.test(line)) ? undefined : lines.join('\n');
}

/** Empty for a client whose private key only it knows. */
export function amneziawgLink({ account }: EntryTemplate): WriteLink {
  const fields = Object.entries(account as EntryTemplate<Account>['account']);
  return ({ client, authority, name }) => {
    const values = Object.fromEntries(
      fields.map(([field, value]) => [field, valueFor(value, client)]),
    ) as Values;
    const config = values['privateKey'] ? configOf(values, authority, name) : undefined;
    return config === undefined ? '' : `vpn://${Buffer.from(config).toString('base64url')}`;
  };
}
