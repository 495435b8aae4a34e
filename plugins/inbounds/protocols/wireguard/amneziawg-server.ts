// The server block of AmneziaWG: keys, pool of addresses and how packets are disguised. Source: docs.amnezia.org, AmneziaWG 2.0.
import { randomInt } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import Joi from 'joi';
import { annotate, bool, custom, describedAs, int, optional, shape, text } from '../../../../kernel/index.js';
import { advanced, section } from '../../form.js';
import { wireguardKey } from '../../generators.js';
import { objectOf, type Settings, textOf } from '../../stream/transport.js';
import { KEY_PATTERN, keyOf, newKeyPair, publicKeyOf } from './keys.js';

const MOST = 2 ** 31 - 1;
const HANDSHAKE = 56;
/** Bytes of disguise that a protected header needs at least. */
const LEAST_FOR_PROTECTION = 12;
const REKEY_AFTER = 120;
const REJECT_AFTER = 180;

const fail = (state: Joi.CustomHelpers, message: string) =>
  state.error('any.custom', { error: new Error(message) });

/** What lands in a config file of another program has no line breaks. */
const line = (longest = 255) =>
  text()
    .max(longest)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters');

/** Both ends of `5` or `5-9`; undefined for anything else. */
function endsOf(value: unknown): readonly [number, number] | undefined {
  const [, low = '', high = low] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(String(value ?? '')) ?? [];
  return low === '' || Number(low) > Number(high) ? undefined : [Number(low), Number(high)];
}
const range = (most = MOST) =>
  optional(
    describedAs(
      custom<number | string>(
        Joi.alternatives(int(), line(32)).custom((value: number | string, state) => {
          if (value === '') return value;
          const ends = endsOf(value);
          return ends && ends[1] <= most ? value : fail(state, `a number or from-to, at most ${most}`);
        }),
      ),
      {
        anyOf: [
          { type: 'string', pattern: '^(?:\\d{1,10}(?:-\\d{1,10})?)?$' },
          { type: 'integer', minimum: 0, maximum: most },
        ],
      },
    ),
  );
type Described = { readonly format: 'ipv4' | 'ipv6' } | { readonly pattern: string };
const address = (isIt: (text: string) => boolean, name: string, forms: readonly Described[]) =>
  optional(
    describedAs(
      custom<string>(
        line(64).custom((value: string, state) =>
          value === '' || isIt(value) ? value : fail(state, `it must be ${name}`),
        ),
      ),
      { anyOf: [{ const: '' }, ...forms.map((form) => ({ type: 'string', ...form }))] },
    ),
  );
const [V4, V6] = [{ format: 'ipv4' }, { format: 'ipv6' }] as const;
const dns = () => address((value) => isIPv4(value) || isIPv6(value), 'an IP address', [V4, V6]);
const key = (description: object = { anyOf: [{ const: '' }, { type: 'string', pattern: KEY_PATTERN }] }) =>
  describedAs(
    custom<string>(
      line().custom((value: string, state) =>
        value === '' || keyOf(value) !== undefined
          ? value
          : fail(state, 'it must be a key of 32 bytes in base64'),
      ),
    ),
    { ...description },
  );
const isPrefixV6 = (value: string): boolean => {
  const [, prefix = '', length = ''] = /^([^/]+)\/(\d{1,3})$/.exec(value) ?? [];
  return isIPv6(prefix) && Number(length) <= 128;
};
const interfaceName = () =>
  optional(line(15).pattern(/^(?:[A-Za-z0-9_.@:-]{1,15})?$/, 'name of a network interface'));

const withV6 = { when: { field: 'ipv6Enabled' } };
const bytes = (most: number) => annotate(optional(int().min(0).max(most)), { unit: 'bytes' });
const seconds = () => annotate(range(), { unit: 'seconds' });
const made = <S extends Joi.Schema>(schema: S) => annotate(schema, { generated: true });
const fields = shape({
  ...section('Keys', {
    privateKey: annotate(made(key()), { secret: true, generator: wireguardKey('privateKey') }),
    // Whatever is sent is replaced before it is checked.
    publicKey: annotate(made(key({})), { readOnly: true, level: 'advanced' }).description(
      'of the private key',
    ),
  }),
  ...section('Network', {
    subnetIp: address(isIPv4, 'an IPv4 address', [V4]).description('network of the clients'),
    subnetCidr: optional(int().min(8).max(30)).description('length of its prefix'),
    primaryDns: dns().description('name server that clients use'),
    secondaryDns: dns().description('name server that clients use if the first one is silent'),
    ipv6Enabled: optional(bool()).description('clients get an IPv6 address as well'),
    ipv6Subnet: annotate(
      address(isPrefixV6, 'an IPv6 prefix such as fd00:8::/64', [
        { pattern: '^[0-9A-Fa-f:.]{2,45}(?:%[^/]*)?/\\d{1,3}$' },
      ]),
      withV6,
    ).description('IPv6 network of the clients, such as fd00:8::/64'),
  }),
  ...advanced('Network', {
    mtu: annotate(optional(int().min(0).max(65_535)), { unit: 'bytes' }).description('0: computed'),
    externalInterface: interfaceName().description('interface to the internet; empty: that of the system'),
    ipv6ExternalInterface: annotate(interfaceName(), withV6).description('the same for IPv6'),
  }),
  ...advanced('Disguise', {
    jc: optional(int().min(0).max(128)).description('packets of junk before a handshake'),
    jmin: bytes(1280).description('of the shortest packet of junk'),
    jmax: bytes(1280).description('of the longest packet of junk'),
    s1: bytes(1132).description('of junk before the first message of a handshake'),
    s2: bytes(1188).description('of junk before the reply to it'),
    s3: bytes(64).description('of junk before a cookie'),
    s4: bytes(32).description('of junk before data'),
    ...Object.fromEntries(
      ['h1', 'h2', 'h3', 'h4'].map((name) => [
        name,
        range(2 ** 32 - 1).description('type of a kind of packet'),
      ]),
    ),
    ...Object.fromEntries(
      ['i1', 'i2', 'i3', 'i4', 'i5'].map((name) => [
        name,
        optional(line(8192)).description('packet before a handshake, as tags like <r 100>'),
      ]),
    ),
    headerProtectionKey: annotate(optional(key()), {
      secret: true,
      generator: wireguardKey('headerProtectionKey'),
    }),
    contentPaddingAddition: annotate(range(), { unit: 'bytes' }),
    randomTrailers: optional(bool()),
    disableCookies: optional(bool()),
  }),
  ...advanced('Times', {
    rekeyAfterTime: seconds(),
    rekeyTimeout: seconds(),
    rejectAfterTime: seconds(),
    keepaliveTimeout: seconds(),
    maxHandshakeAttempts: range(),
  }),
}).unknown(true);

const number = (server: Settings, name: string): number => Number(server[name] ?? 0);

/** What the fields say together. */
function contradiction(server: Settings): string | undefined {
  if (number(server, 'jmin') > number(server, 'jmax')) return 'jmin must not be greater than jmax';
  if (number(server, 's1') + HANDSHAKE === number(server, 's2'))
    return `s2 must not be s1 + ${HANDSHAKE}: both kinds of handshake packets would have one length`;
  const small = ['s1', 's2', 's3', 's4'].find((name) => number(server, name) < LEAST_FOR_PROTECTION);
  if (textOf(server['headerProtectionKey']) !== '' && small !== undefined)
    return `headerProtectionKey needs ${small} of at least ${LEAST_FOR_PROTECTION}`;
  const rekey = endsOf(server['rekeyAfterTime'])?.[1] ?? REKEY_AFTER;
  const reject = endsOf(server['rejectAfterTime'])?.[0] ?? REJECT_AFTER;
  if (rekey >= reject) return `rekeyAfterTime (${rekey}) must be less than rejectAfterTime (${reject})`;
  if (server['ipv6Enabled'] === true && textOf(server['ipv6Subnet']) === '')
    return 'ipv6Enabled needs an ipv6Subnet';
  const bands = ['h1', 'h2', 'h3', 'h4'].flatMap((name) => {
    const ends = endsOf(server[name]);
    return ends ? [{ name, ends }] : [];
  });
  for (const [i, one] of bands.entries())
    for (const other of bands.slice(i + 1))
      if (one.ends[0] <= other.ends[1] && other.ends[0] <= one.ends[1])
        return `${one.name} and ${other.name} must not overlap`;
  return undefined;
}

export const ServerBlock = custom<Settings>(
  fields.custom((server: Settings, state) => {
    const problem = contradiction(server);
    return problem === undefined ? server : fail(state, problem);
  }),
);

/** A number from `least` to `most`. */
const between = (least: number, most: number): number => randomInt(least, most + 1);

/** Four ranges that do not overlap, each at least 1,000 wide. */
function bands(): string[] {
  const quarter = Math.floor((MOST - 5) / 4);
  return [0, 1, 2, 3].map((i) => {
    const first = 5 + i * quarter;
    const from = between(first, first + quarter - 2000);
    return `${from}-${between(from + 1000, first + quarter - 1)}`;
  });
}

/** Bytes of a data packet without its content, which is padded to a multiple of 16. */
const DATA = 32;
const PADDING = 16;
/** Bytes of the two messages of a handshake and of a cookie, without what is put before them. */
const MESSAGES = [
  ['s1', 148],
  ['s2', 92],
  ['s3', 64],
] as const;

/**
 * Returns the first field with which a message has the length of a data packet: amneziawg-go tells kinds of packets
 * apart by their length, and drops every data packet of this one.
 */
export const clashingLength = (server: Settings): (typeof MESSAGES)[number] | undefined =>
  MESSAGES.find(([field, own]) => {
    const content = own + number(server, field) - DATA - number(server, 's4');
    return content >= 0 && content % PADDING === 0;
  });

/** Lengths of what is put before each kind of packet, so that no two kinds have the same. */
function lengths(): Record<'s1' | 's2' | 's3' | 's4', number> {
  for (;;) {
    const found = {
      ...{ s1: between(15, 150), s2: between(15, 150) },
      ...{ s3: between(12, 55), s4: between(12, 27) },
    };
    const sizes = MESSAGES.map(([field, own]) => own + found[field]);
    if (new Set(sizes).size === sizes.length && !clashingLength(found)) return found;
  }
}

function generated(): Record<string, unknown> {
  const jmin = between(40, 89);
  const [h1, h2, h3, h4] = bands();
  return {
    ...newKeyPair(),
    subnetIp: '10.8.1.0',
    subnetCidr: 24,
    primaryDns: '8.8.8.8',
    secondaryDns: '8.8.4.4',
    ...{ jc: between(3, 6), jmin, jmax: jmin + between(50, 250) },
    ...lengths(),
    ...{ h1, h2, h3, h4 },
    i1: `<r ${between(32, 256)}>`,
  };
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';

/** The block to save: what was sent, else what is stored, else generated. The public key follows from the private one. */
export function completeServer(sent: unknown, before: unknown): unknown {
  if (sent !== undefined && (typeof sent !== 'object' || sent === null || Array.isArray(sent))) return sent;
  const stored = before === undefined ? generated() : objectOf(before);
  const { privateKey, ...own } = objectOf(sent);
  const server: Record<string, unknown> = {
    ...stored,
    ...own,
    privateKey: isBlank(privateKey) ? stored['privateKey'] : privateKey,
  };
  const key = keyOf(textOf(server['privateKey']));
  return key === undefined ? server : { ...server, publicKey: publicKeyOf(key) };
}

const LEAST_MTU = 1280;
export const mtuOf = (server: Settings): number =>
  number(server, 'mtu') || Math.max(1420 - number(server, 's4'), LEAST_MTU);
