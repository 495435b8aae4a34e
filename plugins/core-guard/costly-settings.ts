// Settings with which the core takes all memory, Xray-core 26.3.27, each with its place in the core's source
// (github.com/xtls/xray-core at v1.260327.0). The core's own test run accepts them.
import { endsWith } from './config-files.js';
import { goSeconds } from './go-duration.js';
import type { Place } from './walk.js';

interface Costly {
  /** end of the key's path, folded */
  readonly keys: readonly string[];
  readonly most: number;
  readonly does: string;
  /** whether it matters beside these */
  readonly when?: (siblings: Place['siblings']) => boolean;
}

const COSTLY: readonly Costly[] = [
  // proxy/freedom/freedom.go NoisePacketWriter: makes a packet of that size for each session
  {
    keys: ['noises', 'packet'],
    most: 65_535,
    does: 'bytes of a packet',
    when: (siblings) => siblings.get('type') === 'rand',
  },
  // transport/internet/finalmask, header-custom and noise: makes that many for each connection, of each entry of a list
  { keys: ['rand'], most: 65_535, does: 'random bytes' },
  // transport/internet/splithttp/config.go: makes a text of that length for each request
  { keys: ['xpaddingbytes'], most: 65_535, does: 'bytes of each request' },
  // proxy/wireguard/bind.go:99: one function each
  { keys: ['settings', 'workers'], most: 1024, does: 'workers' },
  // app/observatory/burst/healthping.go doCheck: room for that many results of each outbound, and as many requests
  { keys: ['pingconfig', 'sampling'], most: 1000, does: 'samples of each outbound' },
];

/** Entries of a list in a mask, each of which may say so many bytes; a packet is a list of its bytes. */
const MOST_IN_MASK = 64;

/** A number, or the greater one of `from-to` (infra/conf/common.go ParseRangeString). */
const greatest = (value: unknown): number =>
  Math.max(0, ...(String(value).match(/\d+/g) ?? []).map((digits) => Number(digits)));

/** app/observatory/burst/healthping.go:91: the interval is that of one sample */
const SHORTEST_S = 1;
const LONGEST_S = 86_400;
/** Of nothing that is a duration, the core says what is wrong. */
const seconds = (value: unknown): number =>
  typeof value === 'number' ? value * 1e-9 : (goSeconds(String(value)) ?? 0);

/** Returns what is wrong with this key. */
export function costlyProblem({ keys, value, siblings }: Place): string | undefined {
  if (endsWith(keys, ['pingconfig', 'interval'])) {
    const length = seconds(value);
    return length === 0 || (length >= SHORTEST_S && length <= LONGEST_S)
      ? undefined
      : 'it must be from 1s to 24h: with others the core takes all memory or does not run';
  }
  if (keys.includes('finalmask') && keys.at(-1) !== 'packet' && Array.isArray(value)) {
    const entries = Math.max(value.length, value.flat().length);
    return entries > MOST_IN_MASK
      ? `${entries} entries are too many: the core has room for ${MOST_IN_MASK}`
      : undefined;
  }
  const found = COSTLY.find((costly) => endsWith(keys, costly.keys) && (costly.when?.(siblings) ?? true));
  if (!found || typeof value === 'object') return undefined;
  return greatest(value) > found.most
    ? `${String(value)} ${found.does} are too many: the core has room for ${found.most}`
    : undefined;
}
