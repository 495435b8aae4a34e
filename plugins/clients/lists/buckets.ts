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
const isOnline = (row: ClientRow, { now, presence }: BucketContext): boolean =>
  row.enable &&
  (presence.length > 0
    ? presence.some((source) => source.isOnline(row.id))
    : row.lastOnline > now - ONLINE_MS);

/** Buckets for filters overlap: a client that is disabled and at a limit is in two of them. */
export const BUCKETS: Readonly<Record<string, (row: ClientRow, context: BucketContext) => boolean>> = {
  online: isOnline,
  active: (row, { now }) => row.enable && !depletionOf(row, now),
  deactive: (row) => !row.enable,
  depleted: (row, { now }) => depletionOf(row, now) !== undefined,
  expiring: (row, context) => row.enable && !depletionOf(row, context.now) && isNear(row, context),
};

/** Counts over all clients, whatever the list shows: active + deactive + depleted + expiring equals total; online clients may be in any of them. */
export function summaryOf(rows: readonly ClientRow[], context: BucketContext) {
  const names = {
    deactive: [] as string[],
    depleted: [] as string[],
    expiring: [] as string[],
    online: [] as string[],
  };
  const counts = { deactive: 0, depleted: 0, expiring: 0, online: 0 };
  const note = (bucket: keyof typeof names, row: ClientRow): void => {
    if (counts[bucket]++ < MAX_NAMES) names[bucket].push(row.email);
  };
  let active = 0;
  for (const row of rows) {
    if (depletionOf(row, context.now)) note('depleted', row);
    else if (!row.enable) note('deactive', row);
    else if (isNear(row, context)) note('expiring', row);
    else active++;
    if (isOnline(row, context)) note('online', row);
  }
  return {
    total: rows.length,
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

/** The first moment at which time alone changes the summary. */
export function summaryValidUntil(
  rows: readonly ClientRow[],
  { now, soonMs, presence }: BucketContext,
): number {
  // Presence sources do not say when their answers change.
  let end = presence.length > 0 ? now + 1000 : Infinity;
  const consider = (at: number): void => {
    if (at > now && at < end) end = at;
  };
  for (const { expiryTime, lastOnline } of rows) {
    if (expiryTime > 0) {
      consider(expiryTime);
      consider(expiryTime - soonMs + 1);
    }
    if (presence.length === 0 && lastOnline > 0) consider(lastOnline + ONLINE_MS);
  }
  return end;
}
