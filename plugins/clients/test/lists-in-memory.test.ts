// What lists keep between calls, and when it is out of date.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { GroupStore } from '../groups/group-store.js';
import { type BucketContext, summaryValidUntil, summaryOf } from '../lists/buckets.js';
import { Orders } from '../lists/orders.js';
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
  const ids = (filter?: (row: ClientRow) => boolean): number[] =>
    orders.rows('traffic', 'ascend', filter).rows.map(({ id }) => id);
  t.deepEqual(
    ids(({ id }) => id !== 3),
    [2, 1],
  );
  t.deepEqual(ids(), [2, 3, 1]);
  t.deepEqual(
    ids(({ id }) => id !== 3),
    [2, 1],
  );
});

test('a summary names two hundred clients of a kind and counts all', (t) => {
  const rows = Array.from({ length: 201 }, (_, i) => row(i + 1, { enable: false }));
  const { deactive, deactiveCount } = summaryOf(rows, moment());
  t.deepEqual([deactive.length, deactiveCount], [200, 201]);
});

test('a summary ends when a client comes near its expiry, reaches it, or is no longer online', (t) => {
  const soonMs = 10_000;
  const ends = (given: Partial<ClientRow>, more: Partial<BucketContext> = {}) =>
    summaryValidUntil([row(1, given)], moment({ soonMs, ...more }));
  t.is(ends({}), Infinity);
  const near = ends({ expiryTime: NOW + 50_000 });
  t.is(near, NOW + 40_001);
  const expiring = (now: number): number =>
    summaryOf([row(1, { expiryTime: NOW + 50_000 })], moment({ soonMs, now })).expiringCount;
  t.deepEqual([expiring(near - 1), expiring(near)], [0, 1]);
  t.is(ends({ expiryTime: NOW + 5_000 }), NOW + 5_000);
  t.is(ends({ lastOnline: NOW - 1_000 }), NOW + 11_500);
  t.is(ends({}, { presence: [{ isOnline: () => true }] }), NOW + 1_000);
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
