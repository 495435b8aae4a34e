// A free address for a new client of WireGuard, from the pool of its inbound.
import type { TakenKeys } from '../../credential.js';
import { errors } from '../../errors.js';
import type { Inbound } from '../../schema.js';
import { firstNumber, hostNumber, toAddress } from './prefixes.js';

const SMALL = 256;
const LARGE = 65_536;

/** A pool: numbers of IPv4 addresses. */
export interface Pool {
  /** first address of the network */
  readonly first: number;
  readonly size: number;
}
const floor = (number: number, size: number): number => Math.floor(number / size) * size;

/** The /24 around an address, and the /16 around it when that is full. */
export const poolsAround = (network: string): readonly Pool[] => {
  const number = firstNumber(network) ?? firstNumber('10.0.0.0/24') ?? 0;
  return [SMALL, LARGE].map((size) => ({ first: floor(number, size), size }));
};
/** The network with this length, alone. */
export const poolOf = (network: string, length: number): Pool => {
  const size = 2 ** (32 - length);
  return { first: floor(firstNumber(network) ?? 0, size), size };
};

/** The network itself, the server in it, and broadcasts. */
const isReserved = (number: number, { first, size }: Pool): boolean =>
  number - first < 2 || number - first === size - 1 || number % SMALL === 0 || number % SMALL === SMALL - 1;

const isIn = (number: number, { first, size }: Pool): boolean => number >= first && number < first + size;

/**
 * Returns a free address of the first pool that has one, as a prefix. `isFree` says so of an address that no client has.
 * The search goes on where the last one ended, and takes given-back addresses first: all clients of a pool together
 * cost one walk over it.
 */
export function freeAddress(
  taken: TakenKeys,
  pools: readonly Pool[],
  isFree: (network: string) => boolean,
  inbound: Inbound,
  fieldPrefix: string,
): string {
  const usable = (number: number, pool: Pool): string | undefined => {
    const network = `${toAddress(number)}/32`;
    return !isReserved(number, pool) && !taken.has(network) && isFree(network) ? network : undefined;
  };
  for (let key = taken.freed.pop(); key !== undefined; key = taken.freed.pop()) {
    const number = hostNumber(key);
    const pool = number === undefined ? undefined : pools.find((one) => isIn(number, one));
    const found = pool && usable(number as number, pool);
    if (found !== undefined) return found;
  }
  const name = pools.map(({ first, size }) => `${first}+${size}`).join();
  const ends = pools.reduce((sum, { size }) => sum + size, 0);
  let next = taken.cursor?.pool === name ? taken.cursor.next : 0;
  for (; next < ends; next++) {
    let [offset, i] = [next, 0];
    for (let size = pools[0]?.size ?? 0; offset >= size; size = pools[i]?.size ?? Infinity) {
      offset -= size;
      i++;
    }
    const pool = pools[i] as Pool;
    const found = usable(pool.first + offset, pool);
    if (found === undefined) continue;
    taken.cursor = { pool: name, next: next + 1 };
    return found;
  }
  taken.cursor = { pool: name, next };
  const last = pools.at(-1) as Pool;
  throw errors.POOL_FULL(
    `inbound ${inbound.id} (${inbound.remark || inbound.tag}) has no free address left in ${toAddress(last.first)}/${32 - Math.log2(last.size)}; detach clients, or send allowedIPs of another network`,
    { path: `${fieldPrefix}allowedIPs` },
  );
}
