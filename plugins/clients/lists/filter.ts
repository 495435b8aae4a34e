// Filters of the paged list: one test per parameter that was sent; a client must pass all of them.
import { BUCKETS, type BucketContext } from './buckets.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import type { PageQuery } from './page-schema.js';

export type Filter = (row: ClientRow) => boolean;

const words = (csv: string): string[] =>
  csv
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

/** Clients share their lists of inbounds, so each list is tested once. */
function attachedTo(wanted: (inboundId: number) => boolean): Filter {
  const known = new Map<readonly number[], boolean>();
  return ({ inboundIds }) => {
    let answer = known.get(inboundIds);
    if (answer === undefined) known.set(inboundIds, (answer = inboundIds.some(wanted)));
    return answer;
  };
}

function byStatus(csv: string, context: BucketContext): Filter | undefined {
  const names = words(csv);
  // An unknown bucket matches all clients: a newer program gets too many rather than none.
  if (names.length === 0 || names.some((name) => !Object.hasOwn(BUCKETS, name))) return undefined;
  return (row) => names.some((name) => BUCKETS[name]?.(row, context));
}

function byInbound(csv: string): Filter | undefined {
  const ids = new Set(
    words(csv)
      .map(Number)
      .filter((id) => Number.isSafeInteger(id) && id > 0),
  );
  return ids.size === 0 ? undefined : attachedTo((id) => ids.has(id));
}

function byProtocol(csv: string, protocolOf: (inboundId: number) => string | undefined): Filter | undefined {
  const names = new Set(words(csv.toLowerCase()));
  return names.size === 0 ? undefined : attachedTo((id) => names.has(protocolOf(id) ?? ''));
}

function byGroup(csv: string): Filter | undefined {
  const names = new Set(words(csv.toLowerCase()));
  return names.size === 0 ? undefined : ({ group }) => names.has(group.trim().toLowerCase());
}

/** Clients that never expire are in no range. */
function byExpiry(from: number, to: number): Filter | undefined {
  if (from <= 0 && to <= 0) return undefined;
  return ({ expiryTime }) => expiryTime > 0 && expiryTime >= from && (to <= 0 || expiryTime <= to);
}

function byUsage(from: number, to: number): Filter | undefined {
  if (from <= 0 && to <= 0) return undefined;
  return ({ up, down }) => up + down >= from && (to <= 0 || up + down <= to);
}

const bySwitch = (wanted: string, yes: string, holds: Filter): Filter | undefined =>
  wanted === '' ? undefined : (row) => holds(row) === (wanted === yes);

function bySearch(search: string, roster: Roster): Filter | undefined {
  const needle = search.trim().toLowerCase();
  return needle === '' ? undefined : (row) => roster.searchText(row).includes(needle);
}

/** Returns the test that a client must pass; undefined if the query has no filter. */
export function filterOf(
  query: PageQuery,
  roster: Roster,
  context: BucketContext,
  protocolOf: (inboundId: number) => string | undefined,
): Filter | undefined {
  const tests = [
    byInbound(query.inboundIds || query.inbound),
    byProtocol(query.protocol, protocolOf),
    byGroup(query.group),
    byExpiry(query.expiryFrom, query.expiryTo),
    byUsage(query.usageFrom, query.usageTo),
    bySwitch(query.autoRenew, 'on', ({ reset, resetDay }) => reset > 0 || resetDay > 0),
    bySwitch(query.hasTgId, 'yes', ({ tgId }) => tgId !== 0),
    bySwitch(query.hasComment, 'yes', ({ comment }) => comment.trim() !== ''),
    byStatus(query.status || query.filter, context),
    bySearch(query.search, roster),
  ].filter((test) => test !== undefined);
  return tests.length === 0 ? undefined : (row) => tests.every((test) => test(row));
}
