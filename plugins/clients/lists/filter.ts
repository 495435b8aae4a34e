// Filters of the paged list: one test per parameter that was sent; a client must pass all of them. Buckets and the search
// mark all clients without reading a row; the other tests read those that are left.
import { type BucketContext, BUCKETS, bucketsOf as bucketsOfRow } from './buckets.js';
import type { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import { isFoundBy } from '../model/search-text.js';
import type { Marks } from './orders.js';
import type { ClientFilter } from './page-schema.js';

type Filter = (row: ClientRow) => boolean;

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

/** The buckets that are asked for, as bits; undefined for all clients. */
function bucketsOf(csv: string): number | undefined {
  const names = words(csv);
  // An unknown bucket matches all clients: a newer program gets too many rather than none.
  if (names.length === 0 || names.some((name) => !Object.hasOwn(BUCKETS, name))) return undefined;
  return names.reduce((bits, name) => bits | (BUCKETS[name as keyof typeof BUCKETS] ?? 0), 0);
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

type ProtocolOf = (inboundId: number) => string | undefined;

/** The tests that read a row. */
const testsOf = (query: ClientFilter, protocolOf: ProtocolOf): Filter[] =>
  [
    byInbound(query.inboundIds || query.inbound),
    byProtocol(query.protocol, protocolOf),
    byGroup(query.group),
    byExpiry(query.expiryFrom, query.expiryTo),
    byUsage(query.usageFrom, query.usageTo),
    bySwitch(query.autoRenew, 'on', ({ reset, resetDay }) => reset > 0 || resetDay > 0),
    bySwitch(query.hasTgId, 'yes', ({ tgId }) => tgId !== 0),
    bySwitch(query.hasComment, 'yes', ({ comment }) => comment.trim() !== ''),
  ].filter((test) => test !== undefined);

/** Marks the clients that pass; undefined if the query has no filter. `bits` are the buckets of each client, by place. */
export function marksOf(
  query: ClientFilter,
  roster: Roster,
  bits: Uint8Array,
  protocolOf: ProtocolOf,
): Marks | undefined {
  const needle = query.search.trim();
  const buckets = bucketsOf(query.status || query.filter);
  const tests = testsOf(query, protocolOf);
  if (needle === '' && buckets === undefined && tests.length === 0) return undefined;
  const rows = roster.ordered('id');
  const marks = needle === '' ? new Uint8Array(rows.length).fill(1) : roster.search.marks(rows, needle);
  if (buckets !== undefined)
    for (let i = 0; i < marks.length; i++) if (((bits[i] as number) & buckets) === 0) marks[i] = 0;
  for (const passes of tests)
    for (let i = 0; i < marks.length; i++) if (marks[i] === 1 && !passes(rows[i] as ClientRow)) marks[i] = 0;
  return marks;
}

/** The same for a few clients: costs those, not all. */
export function passing(query: ClientFilter, context: BucketContext, protocolOf: ProtocolOf): Filter {
  const needle = query.search.trim();
  const buckets = bucketsOf(query.status || query.filter);
  const tests = testsOf(query, protocolOf);
  if (needle !== '') tests.push(isFoundBy(needle));
  if (buckets !== undefined) tests.push((row) => (bucketsOfRow(row, context) & buckets) !== 0);
  return (row) => tests.every((test) => test(row));
}

/** What the list would ignore, so that it would show more clients than were meant: a list may, a change may not. */
export function ignoredPart(
  query: ClientFilter,
): { readonly path: string; readonly message: string } | undefined {
  for (const path of ['status', 'filter'] as const) {
    const unknown = words(query[path]).find((name) => !Object.hasOwn(BUCKETS, name));
    if (unknown !== undefined)
      return { path, message: `${path} must be of ${Object.keys(BUCKETS).join(', ')}, not "${unknown}"` };
  }
  for (const path of ['inboundIds', 'inbound'] as const) {
    const unknown = words(query[path]).find((id) => !(Number.isSafeInteger(Number(id)) && Number(id) > 0));
    if (unknown !== undefined)
      return { path, message: `${path} must be ids of inbounds with commas, not "${unknown}"` };
  }
  // Of two names for one thing, the list reads the first alone.
  if (query.status !== '' && query.filter !== '')
    return { path: 'filter', message: 'filter is the same as status; send one of them' };
  if (query.inboundIds !== '' && query.inbound !== '')
    return { path: 'inbound', message: 'inbound is the same as inboundIds; send one of them' };
  return undefined;
}
