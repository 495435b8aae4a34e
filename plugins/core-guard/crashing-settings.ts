// Settings of outbounds with which a connection through them crashes the whole core, Xray-core 26.3.27: found by running it
// with each key at its extremes. The core's own test run accepts them.
import { isIP } from 'node:net';
import { endsWith } from './config-files.js';
import { fold, type Place } from './walk.js';

/** `5`, `5-10`, `-5--1`, as infra/conf/common.go reads a range; undefined for anything else. */
function rangeOf(value: unknown): readonly [from: number, to: number] | undefined {
  const [, from, to = from] = /^\s*(-?\d+)(?:-(-?\d+))?\s*$/.exec(String(value)) ?? [];
  return from === undefined ? undefined : [Number(from), Number(to)];
}

/** What net/url takes as the host of a URL; with anything else the request is nil. */
const URL_HOST = /^(?:[\p{L}\p{N}_.~!$&'()*+,;=-]*|\[[\da-f:.]+\])(?::\d*)?$/iu;
const isNoHost = (value: unknown): boolean => typeof value === 'string' && !URL_HOST.test(value);

/** The value of a key, in any case. */
const keyOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null
    ? (Object.entries(value).find(([name]) => fold(name) === key)?.[1] as unknown)
    : undefined;
const isXhttp = (value: unknown): boolean =>
  ['xhttp', 'splithttp'].includes(String(keyOf(value, 'network')).toLowerCase());
const isWireguardKey = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:[\da-f]{64}|[A-Za-z0-9+/_-]{43}=?)?$/i.test(value);

interface Crashing {
  /** ends of the key's path, folded */
  readonly keys: readonly (readonly string[])[];
  readonly crashes: (value: unknown) => boolean;
  readonly instead: string;
}
const CRASHING: readonly Crashing[] = [
  // proxy/wireguard: a device that is not configured is closed by each connection
  {
    keys: [['peers', 'keepalive']],
    crashes: (value) => Number(value) > 65_535,
    instead: 'it must be at most 65535 seconds',
  },
  {
    keys: [
      ['peers', 'presharedkey'],
      ['peers', 'publickey'],
    ],
    crashes: (value) => !isWireguardKey(value),
    instead: 'it must be a key of 32 bytes, in base64 or hexadecimal',
  },
  {
    keys: [['peers', 'allowedips']],
    crashes: (value) => [value].flat().some((one) => isIP(String(one).replace(/\/\d+$/, '')) === 0),
    instead: 'each entry must be an address or a network',
  },
  // transport/internet/splithttp: the host of its requests, which is the name for TLS where it is blank
  {
    keys: [
      ['xhttpsettings', 'host'],
      ['splithttpsettings', 'host'],
      ['extra', 'host'],
    ],
    crashes: isNoHost,
    instead: 'it must be a host name',
  },
  {
    keys: [['streamsettings'], ['downloadsettings']],
    crashes: (value) =>
      isXhttp(value) &&
      ['tlssettings', 'realitysettings'].some((key) => isNoHost(keyOf(keyOf(value, key), 'servername'))),
    instead: 'its serverName must be a host name, as XHTTP asks for it',
  },
  {
    keys: [['scmaxeachpostbytes']],
    crashes: (value) => {
      const range = rangeOf(value) ?? [0, 0];
      return Math.min(...range) < 0 || (Math.min(...range) === 0 && Math.max(...range) > 0);
    },
    instead: 'it must be at least 1',
  },
  {
    keys: [['downloadsettings']],
    crashes: (value) => !isXhttp(value),
    instead: 'its network must be xhttp',
  },
  // transport/internet/finalmask/fragment, and proxy/freedom
  {
    keys: [
      ['fragment', 'length'],
      ['tcp', 'settings', 'length'],
    ],
    crashes: (value) => Math.min(...(rangeOf(value) ?? [0])) < 0,
    instead: 'it must not be negative',
  },
  // transport/internet/hysteria/udphop: time.NewTicker; without the key it is 0
  {
    keys: [['quicparams', 'udphop']],
    crashes: (value) =>
      ![undefined, null, ''].includes(keyOf(value, 'ports') as string) &&
      !(Math.min(...(rangeOf(keyOf(value, 'interval')) ?? [0])) >= 1),
    instead: 'it needs an interval of at least 5 seconds',
  },
  // transport/internet/kcp: divides by what is left of it
  { keys: [['kcpsettings', 'mtu']], crashes: (value) => Number(value) === 0, instead: 'leave it out' },
];

/** Returns what is wrong with this key of an outbound. */
export function crashProblem({ keys, value }: Place): string | undefined {
  if (value === undefined || value === null) return undefined;
  const found = CRASHING.find(
    ({ keys: ends, crashes }) => ends.some((end) => endsWith(keys, end)) && crashes(value),
  );
  return found && `a connection would crash the core; ${found.instead}`;
}
