// Values of REALITY that are no keys.
import { randomBytes, randomInt } from 'node:crypto';

/** Bytes of a short id; the core takes 0 to 8, and none would let everybody in. */
const LENGTHS = [8, 7, 6, 5, 4, 3, 2, 1];

/** Hexadecimal, of each length in turn, no two alike. */
export function newShortIds(count: number): string[] {
  const ids = new Set<string>();
  while (ids.size < count) ids.add(randomBytes(LENGTHS[ids.size % LENGTHS.length] ?? 8).toString('hex'));
  return [...ids];
}

/** A path that looks like one of a web page: the spider of a client begins there. */
export const newSpiderX = (): string => `/${randomBytes(randomInt(4, 10)).toString('base64url')}`;
