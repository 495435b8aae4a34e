// What lists keep between calls, and when it is out of date.
import test from 'ava';
import type { Database, LongList } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/index.js';
import { GroupStore } from '../groups/group-store.js';
import { type BucketContext, BUCKETS, bucketsOf, bucketsValidUntil, summaryOf } from '../lists/buckets.js';
import { ClientLists } from '../lists/client-lists.js';
import { listRoutes } from '../lists/list-routes.js';
import { Orders } from '../lists/orders.js';
import type { PageQuery } from '../lists/page-schema.js';
import { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import { row } from './row.js';

const NOW = 1_000_000_000;
const moment = (given: Partial<BucketContext> = {}): BucketContext => ({
  now: NOW,
  soonMs: 0,
  soonBytes: 0,
  presence: [],
  ...given,
});

test('a sorted list that was filtered is not kept for the next call without a filter', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: [row(1, { up: 5 }), row(2, { up: 3 }), row(3, { up: 4 })] });
  const orders = new Orders({ roster });
  const ids = (marks?: Uint8Array): number[] =>
    orders.slice('traffic', 'ascend', marks, 0, 10).rows.map(({ id }) => id);
  const withoutLast = Uint8Array.of(1, 1, 0);
  t.deepEqual(ids(withoutLast), [2, 1]);
  t.deepEqual(ids(), [2, 3, 1]);
  t.deepEqual(ids(withoutLast), [2, 1]);
});

test('a summary names two hundred clients of a kind and counts all', (t) => {
  const rows = Array.from({ length: 201 }, (_, i) => row(i + 1, { enable: false }));
  const bits = Uint8Array.from(rows, (one) => bucketsOf(one, moment()));
  const { deactive, deactiveCount } = summaryOf(rows, bits);
  t.deepEqual([deactive.length, deactiveCount], [200, 201]);
});

test('a summary ends when a client comes near its expiry, reaches it, or is no longer online', (t) => {
  const soonMs = 10_000;
  const ends = (given: Partial<ClientRow>, more: Partial<BucketContext> = {}) =>
    bucketsValidUntil(row(1, given), moment({ soonMs, ...more }));
  t.is(ends({}), Infinity);
  const near = ends({ expiryTime: NOW + 50_000 });
  t.is(near, NOW + 40_001);
  const expiring = (now: number): number =>
    bucketsOf(row(1, { expiryTime: NOW + 50_000 }), moment({ soonMs, now })) & BUCKETS.expiring;
  t.deepEqual([expiring(near - 1), expiring(near)], [0, BUCKETS.expiring]);
  t.is(ends({ expiryTime: NOW + 5_000 }), NOW + 5_000);
  t.is(ends({ lastOnline: NOW - 1_000 }), NOW + 11_500);
  t.is(ends({ lastOnline: NOW - 1_000 }, { presence: [{ isOnline: () => true }] }), Infinity);
});

test('what was computed from names of groups is out of date after a change and after a reload', async (t) => {
  let source: { load(): Promise<unknown>; apply(state: unknown, change: unknown): unknown } | undefined;
  const db = { projection: (given: typeof source) => ((source = given), {}) } as unknown as Database;
  const groups = { findAll: async () => [] };
  const store = new GroupStore({ db, tables: { groups } } as unknown as ConstructorParameters<
    typeof GroupStore
  >[0]);
  const state = await source?.load();
  const loaded = store.version;
  await source?.apply(state, { set: new Map([['a', { up: 1, down: 2 }]]), deleted: [] });
  t.true(store.version > loaded);
  const changed = store.version;
  await source?.load();
  t.true(store.version > changed);
});

/** The lists of a roster without a panel. `groups` are those that were created. */
function listsOf(roster: Roster) {
  const groupStore = { version: 1, names: () => groups };
  const groups: string[] = [];
  const settings = { expireDiff: 0, trafficDiff: 0 };
  const lists = new ClientLists({
    store: { roster },
    groupStore,
    inbounds: { get: () => undefined },
    settings: { read: () => settings },
    clock: new FakeClock(NOW),
    contributions: () => [],
    shown: { client: ({ email }: ClientRow) => ({ email }) },
  } as unknown as ConstructorParameters<typeof ClientLists>[0]);
  const NOTHING = {
    page: 1,
    pageSize: 25,
    search: '',
    status: '',
    filter: '',
    protocol: '',
    inboundIds: '',
    inbound: '',
    sort: '',
    order: '',
    expiryFrom: 0,
    expiryTo: 0,
    usageFrom: 0,
    usageTo: 0,
    autoRenew: '',
    hasTgId: '',
    hasComment: '',
    group: '',
  } as const satisfies PageQuery;
  const emails = async (query: Partial<PageQuery>): Promise<string> =>
    (await lists.page({ ...NOTHING, ...query })).items.map(({ email }) => email).join();
  return { lists, groupStore, groups, settings, emails };
}

test('the buckets follow usage, edits and settings at the same moment', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: [row(1, { totalGB: 100 }), row(2, { expiryTime: NOW + 1 }), row(3)] });
  const { emails, settings } = listsOf(roster);
  t.is(await emails({ status: 'depleted' }), '');
  await roster.apply({ usage: [{ clientId: 1, inboundId: 1, up: 60, down: 40 }], at: NOW });
  t.is(await emails({ status: 'depleted' }), 'c1', 'of a client that no poll has disabled yet');
  t.is(await emails({ status: 'online' }), 'c1');
  await roster.apply({ edited: [{ id: 1, fields: { totalGB: 101 } }] });
  t.is(await emails({ status: 'depleted' }), '');
  t.is(await emails({ status: 'expiring' }), '');
  settings.trafficDiff = 1;
  t.is(await emails({ status: 'expiring' }), 'c1');
  settings.expireDiff = 1;
  t.is(await emails({ status: 'expiring' }), 'c1,c2');
  await roster.apply({ deleted: [1] });
  t.is(await emails({ status: 'expiring' }), 'c2');
});

test('a page names a group that has just been created', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: [row(1, { group: 'b' })] });
  const { lists, groupStore, groups } = listsOf(roster);
  t.deepEqual(lists.groups(), ['b']);
  groups.push('a');
  groupStore.version++;
  t.deepEqual(lists.groups(), ['a', 'b']);
});

test('the list of all clients has each once that is there all the time, whoever goes while it is sent', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: Array.from({ length: 200 }, (_, i) => row(i + 1)) });
  const shown = { client: ({ id }: ClientRow) => id };
  const all = listRoutes({ store: { roster }, shown } as unknown as Parameters<typeof listRoutes>[0]).find(
    ({ name }) => name === 'clients.listAll',
  );
  const list = all?.handle(undefined as never) as LongList<number> | undefined;
  const seen: number[] = [];
  for (const portion of (list?.portions() ?? []) as Iterable<number[]>) {
    seen.push(...portion);
    // A few at a time, which changes the sorted lists in place.
    await roster.apply({ deleted: portion.slice(0, 10) });
  }
  t.deepEqual(
    seen,
    Array.from({ length: 200 }, (_, i) => i + 1),
  );
});
