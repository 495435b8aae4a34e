// Runs on every database in test:full.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel, until } from '../../../test/harness/index.js';

interface Page {
  readonly items: readonly { readonly email: string; readonly id: number }[];
  readonly total: number;
  readonly filtered: number;
  readonly page: number;
  readonly pageSize: number;
  readonly groups: readonly string[];
  readonly summary: {
    readonly total: number;
    readonly active: number;
    readonly deactive: string[];
    readonly deactiveCount: number;
    readonly depleted: string[];
    readonly depletedCount: number;
    readonly expiring: string[];
    readonly expiringCount: number;
    readonly online: string[];
    readonly onlineCount: number;
  };
}
let engine: FakeEngine;
let clock: FakeClock;
let panel: TestPanel;
const UUID = 'dddddddd-1111-4222-8333-444444444444';
const page = (query = ''): Promise<Page> => panel.get(`/panel/api/clients/list/paged${query}`);
const emails = async (query: string): Promise<string[]> =>
  (await page(query)).items.map(({ email }) => email);

test.before(async () => {
  engine = new FakeEngine();
  clock = new FakeClock();
  panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const inboundId = await panel.addInbound();
  const named = [
    { email: 'Charlie_1', group: 'blue', comment: 'likes TEA' },
    { email: 'alice', uuid: UUID, group: 'Green' },
    { email: 'Bob', subId: 'Sub-Of-Bob', password: 'Secret%Word', enable: false },
    { email: 'charlie1', tgId: 424_242 },
    { email: 'emil', totalGB: 100 },
    { email: 'past', expiryTime: 5 },
    { email: 'offAndPast', expiryTime: 5, enable: false },
  ].map((client, i) => ({ subId: `t-${i}`, password: `q-${i}`, auth: `b-${i}`, ...client }));
  // All credentials are given: random ones sometimes contain what a search looks for.
  const numbered = Array.from({ length: 243 }, (_, i) => ({
    email: `n${String(i).padStart(3, '0')}`,
    enable: i % 2 === 0,
    subId: `s-${i}`,
    password: `p-${i}`,
    auth: `a-${i}`,
  }));
  const { created } = await panel.get<{ created: number }>('/panel/api/clients/bulkCreate', {
    body: [...named, ...numbered].map((client) => ({ client, inboundIds: [inboundId] })),
  });
  if (created !== 250) throw new Error(`${created} clients were created`);
  engine.move(inboundId, 2, 1, 2);
  engine.move(inboundId, 5, 50, 50);
  clock.tick(5000);
  await until(
    async () =>
      (await page('?search=emil')).summary.depleted.includes('emil') &&
      (await page()).summary.onlineCount === 1,
    'the poll counts',
  );
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

test('pages of 25 by id, unless told otherwise; never more than 200', async (t) => {
  const first = await page();
  t.like(first, { page: 1, pageSize: 25, total: 250, filtered: 250 });
  t.deepEqual(
    first.items.map(({ id }) => id),
    Array.from({ length: 25 }, (_, i) => i + 1),
  );
  t.deepEqual(
    (await page('?page=3&pageSize=10')).items.map(({ id }) => id),
    Array.from({ length: 10 }, (_, i) => i + 21),
  );
  const most = await page('?pageSize=5000');
  t.is(most.pageSize, 200);
  t.is(most.items.length, 200);
  t.is((await page('?page=2&pageSize=200')).items.length, 50);
  t.like(await page('?page=0&pageSize=0'), { page: 1, pageSize: 25 });
});

test('a page past the end is empty and keeps the counts', async (t) => {
  for (const query of ['?page=99', '?page=99&order=descend', `?page=${Number.MAX_SAFE_INTEGER}`]) {
    const { items, total, filtered, summary } = await page(query);
    t.deepEqual([items.length, total, filtered, summary.total], [0, 250, 250, 250], query);
  }
});

test('a search matches every field of a client, in any case', async (t) => {
  t.deepEqual(await emails('?search=ALIC'), ['alice']);
  t.deepEqual(await emails('?search=sub-of'), ['Bob']);
  t.deepEqual(await emails('?search=likes%20tea'), ['Charlie_1']);
  t.deepEqual(await emails(`?search=${UUID.slice(0, 13).toUpperCase()}`), ['alice']);
  t.deepEqual(await emails('?search=secret%25w'), ['Bob']);
  t.deepEqual(await emails('?search=424242'), ['charlie1']);
  t.deepEqual(await emails('?search=lie_1'), ['Charlie_1'], 'an underscore is no wildcard');
  t.deepEqual(await emails('?search=%20%20emil%20'), ['emil']);
  const none = await page('?search=nobody-is-called-that');
  t.deepEqual([none.items.length, none.filtered, none.total, none.summary.total], [0, 0, 250, 250]);
  const some = await page('?search=n00&pageSize=3&page=2');
  t.like(some, { filtered: 10, total: 250 });
  t.deepEqual(
    some.items.map(({ email }) => email),
    ['n003', 'n004', 'n005'],
  );
});

test('sorts by email in both directions, ignoring case, and by id for an unknown key', async (t) => {
  const all = (await Promise.all([1, 2].map((at) => emails(`?sort=email&pageSize=200&page=${at}`)))).flat();
  t.deepEqual(all.slice(0, 8), ['alice', 'Bob', 'charlie1', 'Charlie_1', 'emil', 'n000', 'n001', 'n002']);
  t.is(new Set(all).size, 250);
  const back = (
    await Promise.all([1, 2, 3].map((at) => emails(`?sort=email&order=descend&pageSize=100&page=${at}`)))
  ).flat();
  t.deepEqual(back, [...all].reverse());
  t.deepEqual((await emails('?sort=shoesize')).slice(0, 3), ['Charlie_1', 'alice', 'Bob']);
  t.deepEqual((await emails('?order=descend')).slice(0, 2), ['n242', 'n241']);
  t.deepEqual((await emails('?order=sideways')).slice(0, 2), ['Charlie_1', 'alice']);
});

test('the summary counts all clients and names at most 200', async (t) => {
  const { summary, groups } = await page('?search=alice');
  t.is(summary.active + summary.deactiveCount + summary.depletedCount + summary.expiringCount, 250);
  t.is(summary.total, 250);
  t.deepEqual([...summary.depleted].sort(), ['emil', 'offAndPast', 'past']);
  t.is(summary.depletedCount, 3);
  t.is(summary.deactiveCount, 1 + 121);
  t.is(summary.deactive.length, 122);
  t.deepEqual(summary.online, ['alice']);
  t.is(summary.onlineCount, 1);
  t.deepEqual(groups, ['blue', 'Green']);
});

test('an empty panel has an empty page', async (t) => {
  await using fresh = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  t.deepEqual(await fresh.get<Page>('/panel/api/clients/list/paged'), {
    items: [],
    total: 0,
    filtered: 0,
    page: 1,
    pageSize: 25,
    groups: [],
    summary: {
      total: 0,
      active: 0,
      deactive: [],
      deactiveCount: 0,
      depleted: [],
      depletedCount: 0,
      expiring: [],
      expiringCount: 0,
      online: [],
      onlineCount: 0,
    },
  });
});
