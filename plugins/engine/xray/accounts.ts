// What each protocol calls a user. A wrong account type makes the core panic, so nothing else in this folder
// encodes an account. A new protocol is one more entry of `kinds`.
import { randomBytes } from 'node:crypto';
import { CoreRefused, type CoreAccount, type CoreUser, type JsonObject } from '../driver.js';
import { decode, encode, wrap, type Messages, type TypedMessage } from './messages.js';

export interface AccountKind {
  /** full name of the settings that the core makes of an inbound of this protocol */
  readonly inboundType: string;
  /** number of the repeated xray.common.protocol.User field in those settings */
  readonly usersField: number;
  /** keys of the inbound's `settings` that give absent user fields a value; a user added live would not get it, so they go */
  readonly defaults: readonly string[];
  /** full name of the account message */
  readonly typeName: string;
  /** A second user of the same name is taken beside the first, whose password goes on working. */
  readonly admitsTwins?: true;
  /** For protocols whose inbound, without a user in its config, would be one for a single user for ever: a user that nobody can be. */
  nobody?(settings: JsonObject): JsonObject;
  /** the protocol's name in the config, where it is another */
  readonly inConfig?: string;
  /** fields an account has beside `protocol`; neither more nor fewer, so that what is read back equals what was sent */
  readonly fields: readonly string[];
  /** what the core would not notice, or only when it is too late */
  fault(account: CoreAccount): string | undefined;
  encode(account: CoreAccount): TypedMessage;
  decode(bytes: Uint8Array): CoreAccount;
  /** the user's entry in `settings.clients` */
  json(user: CoreUser): JsonObject;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LONE_SURROGATE = /\p{Cs}/u;
const CONTROL = /\p{Cc}/u;

/** Never counted, never told to the engine. */
export const NOBODY = 'weir.nobody';

const text = (account: CoreAccount, field: string): string => account[field] ?? '';

/** The core keeps 16 bytes and prints them in lower case. */
const vless: AccountKind = {
  inboundType: 'xray.proxy.vless.inbound.Config',
  usersField: 1,
  defaults: ['flow'],
  typeName: 'xray.proxy.vless.Account',
  fields: ['id', 'flow'],
  fault(account) {
    if (!UUID.test(text(account, 'id'))) return 'id must be a UUID of 36 characters';
    if (!['', 'xtls-rprx-vision'].includes(text(account, 'flow')))
      return `flow must be empty or xtls-rprx-vision, not ${JSON.stringify(account['flow'])}`;
    return undefined;
  },
  encode: (account) =>
    wrap('xray.proxy.vless.Account', { id: text(account, 'id').toLowerCase(), flow: text(account, 'flow') }),
  decode(bytes) {
    const { id, flow } = decode('xray.proxy.vless.Account', bytes);
    return { protocol: 'vless', id, flow };
  },
  json: ({ name, account }) => ({
    email: name,
    level: 0,
    id: text(account, 'id').toLowerCase(),
    flow: text(account, 'flow'),
  }),
};

const trojan: AccountKind = {
  inboundType: 'xray.proxy.trojan.ServerConfig',
  usersField: 1,
  defaults: [],
  typeName: 'xray.proxy.trojan.Account',
  fields: ['password'],
  fault(account) {
    const password = text(account, 'password');
    if (password === '') return 'password must not be empty';
    if (LONE_SURROGATE.test(password)) return 'password must be well-formed Unicode';
    return undefined;
  },
  encode: (account) => wrap('xray.proxy.trojan.Account', { password: text(account, 'password') }),
  decode: (bytes) => ({ protocol: 'trojan', password: decode('xray.proxy.trojan.Account', bytes).password }),
  json: ({ name, account }) => ({ email: name, level: 0, password: text(account, 'password') }),
};

const vmess: AccountKind = {
  inboundType: 'xray.proxy.vmess.inbound.Config',
  usersField: 1,
  defaults: [],
  typeName: 'xray.proxy.vmess.Account',
  fields: ['id'],
  fault: (account) => (UUID.test(text(account, 'id')) ? undefined : 'id must be a UUID of 36 characters'),
  encode: (account) => wrap('xray.proxy.vmess.Account', { id: text(account, 'id').toLowerCase() }),
  decode: (bytes) => ({ protocol: 'vmess', id: decode('xray.proxy.vmess.Account', bytes).id }),
  json: ({ name, account }) => ({ email: name, level: 0, id: text(account, 'id').toLowerCase() }),
};

/** Numbers of xray.proxy.shadowsocks.CipherType. */
const CIPHERS: ReadonlyMap<string, number> = new Map([
  ['aes-128-gcm', 5],
  ['aes-256-gcm', 6],
  ['chacha20-poly1305', 7],
  ['xchacha20-poly1305', 8],
]);

const shadowsocks: AccountKind = {
  inboundType: 'xray.proxy.shadowsocks.ServerConfig',
  usersField: 1,
  defaults: [],
  admitsTwins: true,
  typeName: 'xray.proxy.shadowsocks.Account',
  fields: ['password', 'method'],
  fault(account) {
    if (!CIPHERS.has(text(account, 'method')))
      return `method must be one of ${[...CIPHERS.keys()].join(', ')}`;
    return trojan.fault(account);
  },
  encode: (account) =>
    wrap('xray.proxy.shadowsocks.Account', {
      password: text(account, 'password'),
      cipherType: CIPHERS.get(text(account, 'method')) ?? 0,
    }),
  decode(bytes) {
    const { password, cipherType } = decode('xray.proxy.shadowsocks.Account', bytes);
    return {
      protocol: 'shadowsocks',
      password,
      method: [...CIPHERS].find(([, number]) => number === cipherType)?.[0] ?? '',
    };
  },
  json: ({ name, account }) => ({
    email: name,
    level: 0,
    password: text(account, 'password'),
    method: text(account, 'method'),
  }),
};

/** A key that is no base64 of 16 or 32 bytes is taken by the core, and from then on no user of the inbound changes any more. */
const shadowsocks2022: AccountKind = {
  inboundType: 'xray.proxy.shadowsocks_2022.MultiUserServerConfig',
  usersField: 3,
  defaults: [],
  inConfig: 'shadowsocks',
  typeName: 'xray.proxy.shadowsocks_2022.Account',
  fields: ['key'],
  fault: (account) =>
    /^(?:[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{43}=)$/.test(text(account, 'key'))
      ? undefined
      : 'key must be 16 or 32 bytes in base64',
  encode: (account) => wrap('xray.proxy.shadowsocks_2022.Account', { key: text(account, 'key') }),
  decode: (bytes) => ({
    protocol: 'shadowsocks-2022',
    key: decode('xray.proxy.shadowsocks_2022.Account', bytes).key,
  }),
  json: ({ name, account }) => ({ email: name, level: 0, password: text(account, 'key') }),
  nobody: ({ method }) => ({
    email: NOBODY,
    level: 0,
    password: randomBytes(String(method).includes('aes-128') ? 16 : 32).toString('base64'),
  }),
};

const kinds: ReadonlyMap<string, AccountKind> = new Map([
  ['vless', vless],
  ['vmess', vmess],
  ['trojan', trojan],
  ['shadowsocks', shadowsocks],
  ['shadowsocks-2022', shadowsocks2022],
]);
const protocols: ReadonlyMap<string, string> = new Map(
  [...kinds].map(([protocol, kind]) => [kind.inboundType, protocol]),
);

/** The table's entry, or undefined for a protocol whose inbounds have no users that the API can change. */
export function kindOf(protocol: string): AccountKind | undefined {
  return kinds.get(protocol);
}

/** The protocol of an inbound by the type of its settings in the core; a type outside the table stands for itself. */
export function protocolOf(inboundType: string): string {
  return protocols.get(inboundType) ?? inboundType;
}

/** Checks a user against the inbound it is meant for. Throws CoreRefused; nothing has been sent then. */
export function checkedKind(
  user: CoreUser,
  inbound: { readonly tag: string; readonly protocol: string },
): AccountKind {
  const refuse = (reason: string): never => {
    throw new CoreRefused(`user ${JSON.stringify(user.name)} of inbound ${inbound.tag}: ${reason}`);
  };
  const { account } = user;
  const kind = kinds.get(inbound.protocol) ?? refuse(`${inbound.protocol} has no users that can be changed`);
  if (account.protocol !== inbound.protocol)
    refuse(`the account is for ${account.protocol}, the inbound speaks ${inbound.protocol}`);
  if (user.name === '' || user.name.includes('>>>') || CONTROL.test(user.name))
    refuse('the name must not be empty nor contain >>> or control characters');
  for (const field of kind.fields) if (typeof account[field] !== 'string') refuse(`${field} is missing`);
  for (const field of Object.keys(account))
    if (field !== 'protocol' && !kind.fields.includes(field))
      refuse(`${inbound.protocol} knows no field ${field}`);
  const fault = kind.fault(account);
  if (fault !== undefined) refuse(fault);
  return kind;
}

/** The user as the core's User message; always level 0, the one whose traffic is counted. Throws CoreRefused. */
export function userMessage(
  user: CoreUser,
  inbound: { readonly tag: string; readonly protocol: string },
): Messages['xray.common.protocol.User'] {
  return { level: 0, email: user.name, account: checkedKind(user, inbound).encode(user.account) };
}

export function encodeUser(
  user: CoreUser,
  inbound: { readonly tag: string; readonly protocol: string },
): Uint8Array {
  return encode('xray.common.protocol.User', userMessage(user, inbound));
}

/** Reverse of `encodeUser`, for users read back from an inbound of `protocol`. */
export function decodeUser(bytes: Uint8Array, protocol: string): CoreUser {
  const { email, account } = decode('xray.common.protocol.User', bytes);
  const kind = kinds.get(protocol);
  if (kind === undefined || account?.type !== kind.typeName)
    throw new CoreRefused(
      `user ${email}: the core answers with a ${account?.type ?? 'missing'} account on an inbound of ${protocol}`,
    );
  return { name: email, account: kind.decode(account.value) };
}
