// The state of clients: the buckets of lists, and the counts over all clients.
import type { PresenceSource } from '../contract.js';
import { depletionOf } from '../model/depletion.js';
import type { ClientRow } from '../model/row.js';

/** Most emails in each list of a summary; its counts are exact. */
const MAX_NAMES = 200;
/** Without a presence source, a client is online if it moved bytes in the last two and a half polls of 5 s: one may come late or find nothing. */
const ONLINE_MS = 12_500;

export interface BucketContext {
  readonly now: number;
  /** ms before its expiry, and bytes below its quota, from which a client counts as expiring */
  readonly soonMs: number;
  readonly soonBytes: number;
  readonly presence: readonly PresenceSource[];
}

const isNear = (
  { expiryTime, totalGB, up, down }: ClientRow,
  { now, soonMs, soonBytes }: BucketContext,
): boolean =>
  (expiryTime > 0 && expiryTime - now < soonMs) || (totalGB > 0 && totalGB - up - down < soonBytes);
export const isOnline = (row: ClientRow, { now, presence }: BucketContext): boolean =>
  row.enable &&
  (presence.length > 0
    ? presence.some((source) => source.isOnline(row.id))
    : row.lastOnline > now - ONLINE_MS);

/** Buckets of filters, as bits. They overlap: a client that is disabled and at a limit is in two of them. */
export const BUCKETS = { online: 1, active: 2, deactive: 4, depleted: 8, expiring: 16 } as const;

/** The buckets of one client. */
export function bucketsOf(row: ClientRow, context: BucketContext): number {
  const online = isOnline(row, context) ? BUCKETS.online : 0;
  const off = row.enable ? 0 : BUCKETS.deactive;
  if (depletionOf(row, context.now) !== undefined) return online | off | BUCKETS.depleted;
  if (!row.enable) return online | off;
  // For a filter, an expiring client is active.
  return online | BUCKETS.active | (isNear(row, context) ? BUCKETS.expiring : 0);
}

/**
 * Counts over all clients, whatever the list shows: active + deactive + depleted + expiring equals total; online clients
 * may be in any of them. `bits` are the buckets of each client, by its place.
 */
export function summaryOf(rows: readonly ClientRow[], bits: Uint8Array) {
  const names = {
    deactive: [] as string[],
    depleted: [] as string[],
    expiring: [] as string[],
    online: [] as string[],
  };
  const counts = { deactive: 0, depleted: 0, expiring: 0, online: 0 };
  const note = (bucket: keyof typeof names, place: number): void => {
    if (counts[bucket]++ < MAX_NAMES) names[bucket].push((rows[place] as ClientRow).email);
  };
  let active = 0;
  for (let place = 0; place < bits.length; place++) {
    const found = bits[place] as number;
    if (found === BUCKETS.active) {
      active++;
      continue;
    }
    if (found & BUCKETS.depleted) note('depleted', place);
    else if (found & BUCKETS.deactive) note('deactive', place);
    else if (found & BUCKETS.expiring) note('expiring', place);
    else active++;
    if (found & BUCKETS.online) note('online', place);
  }
  return {
    total: bits.length,
    active,
    deactive: names.deactive,
    deactiveCount: counts.deactive,
    depleted: names.depleted,
    depletedCount: counts.depleted,
    expiring: names.expiring,
    expiringCount: counts.expiring,
    online: names.online,
    onlineCount: counts.online,
  };
}
export type Summary = ReturnType<typeof summaryOf>;

/** The first moment at which time alone changes the buckets of a client. */
export function bucketsValidUntil(
  { expiryTime, lastOnline }: ClientRow,
  { now, soonMs, presence }: BucketContext,
): number {
  let end = Infinity;
  const consider = (at: number): void => {
    if (at > now && at < end) end = at;
  };
  if (expiryTime > 0) {
    consider(expiryTime);
    consider(expiryTime - soonMs + 1);
  }
  if (presence.length === 0 && lastOnline > 0) consider(lastOnline + ONLINE_MS);
  return end;
}
