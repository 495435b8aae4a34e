// Outbounds of the common protocols: how a new one begins, where its server is, and which fields a form has.
import type { MessageKey } from '../language/message-key.js';
import { type Entry, textOf, valueAt, withValueAt } from './template.js';

export interface OutboundField {
  readonly label: MessageKey;
  /** where the value is: `server` and `user` are lists in some configs, and `settings` itself in others */
  readonly from: 'outbound' | 'server' | 'user';
  readonly path: readonly string[];
  readonly input: 'text' | 'number' | 'secret' | 'choice';
  readonly options?: readonly string[];
  readonly hint?: MessageKey;
}
interface Kind {
  readonly servers?: 'servers' | 'vnext';
  /** its user is in a list of users */
  readonly hasUsers?: true;
  readonly initial: Entry;
  readonly fields: readonly OutboundField[];
}

const field = (
  label: MessageKey,
  from: OutboundField['from'],
  path: readonly string[],
  input: OutboundField['input'] = 'text',
  options?: readonly string[],
): OutboundField => ({ label, from, path, input, ...(options && { options }) });
const ADDRESS = field('routing.field.address', 'server', ['address']);
const PORT = field('routing.field.port', 'server', ['port'], 'number');
const STREAM = { streamSettings: { network: 'tcp', security: 'none' } };
const FAMILIES = [
  'AsIs',
  'UseIP',
  'UseIPv4',
  'UseIPv6',
  'UseIPv4v6',
  'UseIPv6v4',
  'ForceIP',
  'ForceIPv4',
  'ForceIPv6',
];
const CIPHERS = [
  '2022-blake3-aes-128-gcm',
  '2022-blake3-aes-256-gcm',
  '2022-blake3-chacha20-poly1305',
  'aes-256-gcm',
  'aes-128-gcm',
  'chacha20-ietf-poly1305',
];
const LOGIN = [
  field('routing.field.user', 'user', ['user']),
  field('routing.field.password', 'user', ['pass'], 'secret'),
];
const server = (more: Entry = {}): Entry => ({ address: '', port: 443, ...more });

export const KINDS: Readonly<Record<string, Kind>> = {
  freedom: {
    initial: { settings: {} },
    fields: [
      field('routing.field.domainStrategy', 'outbound', ['settings', 'domainStrategy'], 'choice', FAMILIES),
      field('routing.field.redirect', 'outbound', ['settings', 'redirect']),
      field('routing.field.sendThrough', 'outbound', ['sendThrough']),
    ],
  },
  blackhole: {
    initial: { settings: {} },
    fields: [
      field('routing.field.response', 'outbound', ['settings', 'response', 'type'], 'choice', [
        'none',
        'http',
      ]),
    ],
  },
  vless: {
    servers: 'vnext',
    hasUsers: true,
    initial: { settings: { vnext: [server({ users: [{ id: '', encryption: 'none' }] })] }, ...STREAM },
    fields: [
      ADDRESS,
      PORT,
      field('routing.field.id', 'user', ['id'], 'secret'),
      field('routing.field.flow', 'user', ['flow'], 'choice', ['xtls-rprx-vision']),
    ],
  },
  vmess: {
    servers: 'vnext',
    hasUsers: true,
    initial: { settings: { vnext: [server({ users: [{ id: '', security: 'auto' }] })] }, ...STREAM },
    fields: [ADDRESS, PORT, field('routing.field.id', 'user', ['id'], 'secret')],
  },
  trojan: {
    servers: 'servers',
    initial: { settings: { servers: [server({ password: '' })] }, ...STREAM },
    fields: [ADDRESS, PORT, field('routing.field.password', 'server', ['password'], 'secret')],
  },
  shadowsocks: {
    servers: 'servers',
    initial: { settings: { servers: [server({ method: CIPHERS[0], password: '' })] } },
    fields: [
      ADDRESS,
      PORT,
      field('routing.field.method', 'server', ['method'], 'choice', CIPHERS),
      field('routing.field.password', 'server', ['password'], 'secret'),
    ],
  },
  socks: {
    servers: 'servers',
    hasUsers: true,
    initial: { settings: { servers: [server({ port: 1080 })] } },
    fields: [ADDRESS, PORT, ...LOGIN],
  },
  http: {
    servers: 'servers',
    hasUsers: true,
    initial: { settings: { servers: [server({ port: 8080 })] } },
    fields: [ADDRESS, PORT, ...LOGIN],
  },
};

/** Undefined for another protocol, also where its name is that of something that each object has. */
export function kindOf(outbound: Entry): Kind | undefined {
  const protocol = textOf(outbound['protocol']);
  return Object.hasOwn(KINDS, protocol) ? KINDS[protocol] : undefined;
}

type Path = readonly (string | number)[];

function pathOf(outbound: Entry, { from, path }: OutboundField): Path {
  const kind = kindOf(outbound);
  if (from === 'outbound' || !kind?.servers) return path;
  const isFlat = valueAt(outbound, ['settings', 'address']) !== undefined;
  const at: Path = isFlat ? ['settings'] : ['settings', kind.servers, 0];
  return [...at, ...(from === 'user' && kind.hasUsers && !isFlat ? ['users', 0] : []), ...path];
}

export const fieldValue = (outbound: Entry, field: OutboundField): unknown =>
  valueAt(outbound, pathOf(outbound, field));

/** Where the form shows a problem that the core names by its place. */
export const isAt = (outbound: Entry, field: OutboundField, path: string): boolean =>
  pathOf(outbound, field).join('.') === path;

export function withField(outbound: Entry, field: OutboundField, typed: string): Entry {
  const isNumber = field.input === 'number' && /^\d{1,9}$/.test(typed.trim());
  const mustStay = field.path[0] === 'address' || field.path[0] === 'port';
  const value = isNumber ? Number(typed) : typed === '' && !mustStay ? undefined : typed;
  const path = pathOf(outbound, field);
  const next = withValueAt(outbound, path, value) as Entry;
  return value === undefined ? withoutBlank(next, path.slice(0, -1)) : next;
}

/** Objects that a cleared field has left empty go with it: the core does not take a user without a name. */
function withoutBlank(outbound: Entry, path: Path): Entry {
  const last = path.at(-1);
  const value = valueAt(outbound, path);
  if (path.length < 2 || typeof value !== 'object' || value === null || Object.keys(value).length > 0)
    return outbound;
  if (typeof last !== 'number') return withValueAt(outbound, path, undefined) as Entry;
  return withValueAt(outbound, path.slice(0, -1), undefined) as Entry;
}

/** `host:port` of the first server; blank where an outbound has none. */
export function addressOf(outbound: Entry): string {
  const settings = outbound['settings'];
  const first = [['servers', 0], ['vnext', 0], []]
    .map((path) => valueAt(settings, path) as Entry | undefined)
    .find((server) => textOf(server?.['address']) !== '');
  const endpoint = textOf(valueAt(settings, ['peers', 0, 'endpoint']));
  if (!first) return endpoint;
  const address = textOf(first['address']);
  const shown = address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;
  return first['port'] === undefined ? shown : `${shown}:${String(first['port'])}`;
}

const WITHOUT_SERVER = new Set(['freedom', 'blackhole', 'dns', 'loopback']);
/** Others lead through no server, so there is nothing to test. */
export const isTestable = ({ protocol }: Entry): boolean => !WITHOUT_SERVER.has(textOf(protocol));
