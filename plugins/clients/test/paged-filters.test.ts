import test from 'ava';
import { FakeClock, FakeEngine, refused, TestPanel, until } from '../../../test/harness/index.js';

interface Page {
  readonly items: readonly { readonly email: string }[];
  readonly total: number;
  readonly filtered: number;
  readonly summary: {
    readonly active: number;
    readonly expiring: string[];
    readonly expiringCount: number;
    readonly online: string[];
    readonly total: number;
  };
}
const DAY = 86_400_000;
const GIB = 2 ** 30;
let engine: FakeEngine;
let clock: FakeClock;
let panel: TestPanel;
let vless: number;
let trojan: number;
let start: number;

const page = (query: string): Promise<Page> =>
  panel.get(`/panel/api/clients/list/paged?pageSize=200&${query}`);
const emails = async (query: string): Promise<string[]> =>
  (await page(query)).items.map(({ email }) => email);

test.before(async () => {
  engine = new FakeEngine();
  clock = new FakeClock();
  panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  [vless, trojan] = [await panel.addInbound(), await panel.addInbound({ protocol: 'trojan' })];
  start = clock.now();
  const clients: [string, number[], Record<string, unknown>][] = [
    ['a', [vless], { totalGB: 10 * GIB, expiryTime: start + 10 * DAY, group: 'Blue', tgId: 7, reset: 30 }],
    ['b', [trojan], { expiryTime: start + 2 * DAY, group: 'red team', comment: 'x', resetDay: 5 }],
    ['c', [vless, trojan], { totalGB: GIB, comment: '  ' }],
    ['d', [vless], { enable: false, group: 'blue' }],
    ['e', [vless], { expiryTime: -5 * DAY, enable: true }],
    ['f', [vless], { totalGB: 100 }],
  ];
  for (const [email, inboundIds, fields] of clients) {
    await panel.addClient(email, inboundIds, fields);
    clock.tick(10);
  }
  engine.move(vless, 1, 1000, 2000);
  engine.move(trojan, 3, 500, 500);
  engine.move(vless, 6, 50, 50);
  clock.tick(5000);
  await until(async () => (await emails('status=deactive')).includes('f'), 'the poll counts');
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

test.serial('status: ORs several buckets, filter is an alias, an unknown one matches all', async (t) => {
  t.deepEqual(await emails('status=active'), ['a', 'b', 'c', 'e']);
  t.deepEqual(await emails('status=deactive'), ['d', 'f'], 'a depleted client is off as well');
  t.deepEqual(await emails('status=depleted'), ['f']);
  t.deepEqual(await emails('status=depleted,%20active'), ['a', 'b', 'c', 'e', 'f']);
  t.deepEqual(await emails('filter=depleted'), ['f']);
  t.deepEqual(await emails('status=online'), ['a', 'c'], 'who is off is not online, whatever moved');
  t.deepEqual(await emails('status=sleeping,depleted'), ['a', 'b', 'c', 'd', 'e', 'f']);
  t.deepEqual(await emails('status='), ['a', 'b', 'c', 'd', 'e', 'f']);
});

test.serial('protocol, inboundIds and group: lists with commas, each ORed, together ANDed', async (t) => {
  t.deepEqual(await emails('protocol=trojan'), ['b', 'c']);
  t.deepEqual(await emails('protocol=trojan,VLESS'), ['a', 'b', 'c', 'd', 'e', 'f']);
  t.deepEqual(await emails('protocol=wireguard'), []);
  t.deepEqual(await emails(`inboundIds=${trojan}`), ['b', 'c']);
  t.deepEqual(await emails(`inbound=${trojan},${vless}`), ['a', 'b', 'c', 'd', 'e', 'f']);
  t.deepEqual(await emails(`inboundIds=-1,abc,${trojan},0`), ['b', 'c']);
  t.is((await emails('inboundIds=abc,-4')).length, 6, 'nothing that is an id is no wish');
  t.deepEqual(await emails('inboundIds=999'), []);
  t.deepEqual(await emails('group=BLUE'), ['a', 'd']);
  t.deepEqual(await emails('group=%20red%20team%20,blue'), ['a', 'b', 'd']);
  t.deepEqual(await emails(`group=blue,red%20team&protocol=trojan`), ['b']);
  t.like(await page('group=blue&status=active'), { filtered: 1, total: 6, summary: { total: 6 } });
});

test.serial('ranges of expiry and usage include their ends; zero or less means no bound', async (t) => {
  t.deepEqual(await emails(`expiryFrom=${start + 2 * DAY}`), ['a', 'b']);
  t.deepEqual(
    await emails(`expiryTo=${start + 2 * DAY}`),
    ['b'],
    'who never expires, or has not begun, is in no range',
  );
  t.deepEqual(await emails(`expiryFrom=${start + 2 * DAY + 1}&expiryTo=${start + 10 * DAY}`), ['a']);
  t.is((await emails('expiryFrom=0&expiryTo=-5&usageFrom=-1&usageTo=0')).length, 6);
  t.deepEqual(await emails('usageFrom=1000'), ['a', 'c']);
  t.deepEqual(await emails('usageFrom=1&usageTo=1000'), ['c', 'f']);
  t.deepEqual(await emails('usageTo=100'), ['b', 'd', 'e', 'f']);
});

test.serial('autoRenew, hasTgId and hasComment: one side, the other, or both', async (t) => {
  t.deepEqual(await emails('autoRenew=on'), ['a', 'b']);
  t.deepEqual(await emails('autoRenew=off'), ['c', 'd', 'e', 'f']);
  t.deepEqual(await emails('hasTgId=yes'), ['a']);
  t.deepEqual(await emails('hasTgId=no'), ['b', 'c', 'd', 'e', 'f']);
  t.deepEqual(await emails('hasComment=yes'), ['b'], 'blanks are no comment');
  t.deepEqual(await emails('hasComment=no'), ['a', 'c', 'd', 'e', 'f']);
  t.is((await emails('autoRenew=&hasTgId=&hasComment=')).length, 6);
});

test.serial('sorts by every key in both directions; ties by id', async (t) => {
  const orders: Record<string, [string, string]> = {
    enable: ['dfabce', 'abcedf'],
    email: ['abcdef', 'fedcba'],
    inboundIds: ['abdefc', 'cabdef'],
    traffic: ['bdefca', 'acfbde'],
    remaining: ['fcabde', 'bdeacf'],
    expiryTime: ['bacdef', 'cdefab'],
    createdAt: ['abcdef', 'fedcba'],
    lastOnline: ['bdeacf', 'fcaedb'],
  };
  for (const [sort, [up, down]] of Object.entries(orders)) {
    for (const again of ['', ' again']) {
      t.is((await emails(`sort=${sort}&order=ascend`)).join(''), up, `${sort}${again}`);
      t.is((await emails(`sort=${sort}&order=descend`)).join(''), down, `${sort} descend${again}`);
    }
  }
  t.is((await emails('sort=traffic&order=descend&status=active')).join(''), 'acbe');
  t.is((await emails('sort=constructor')).join(''), 'abcdef');
  t.deepEqual(
    (
      await panel.get<Page>('/panel/api/clients/list/paged?sort=traffic&order=descend&pageSize=2&page=2')
    ).items.map(({ email }) => email),
    ['f', 'b'],
  );
});

test.serial('a sorted list follows changes', async (t) => {
  t.is(
    (await emails('sort=updatedAt&order=descend'))[0],
    'f',
    'the limit that it reached is no edit, yet its creation is the latest',
  );
  clock.tick(1000);
  await panel.get('/panel/api/clients/update/c', { body: { limitIp: 3 } });
  t.is((await emails('sort=updatedAt&order=descend'))[0], 'c');
  t.is((await emails('sort=traffic&order=descend'))[0], 'a');
  engine.move(trojan, 2, 10_000, 0);
  clock.tick(5000);
  await until(async () => (await emails('sort=traffic&order=descend'))[0] === 'b', 'the poll counts');
  t.deepEqual(await emails('status=online'), ['a', 'b', 'c']);
});

test.serial('expiring: settings define the days and GiB before the end', async (t) => {
  t.deepEqual((await page('')).summary.expiring, []);
  await panel.get('/panel/api/setting/update', { body: { expireDiff: 3, trafficDiff: 2 } });
  t.deepEqual(await emails('status=expiring'), ['b', 'c']);
  const { summary } = await page('');
  t.deepEqual(summary.expiring, ['b', 'c']);
  t.is(summary.active, 2);
  t.deepEqual(
    await emails('status=active'),
    ['a', 'b', 'c', 'e'],
    'a list of the active ones shows those near their end as well',
  );
  clock.tick(7 * DAY);
  await panel.login();
  t.deepEqual(
    (await page('')).summary.expiring,
    ['a', 'c'],
    'time alone moves clients from bucket to bucket',
  );
  t.deepEqual(await emails('status=online'), []);
  await panel.get('/panel/api/setting/update', { body: { expireDiff: 0, trafficDiff: 0 } });
  t.is((await page('')).summary.expiringCount, 0);
});

test.serial('rejects invalid parameters by name', async (t) => {
  for (const [field, value] of [
    ['page', 'x'],
    ['page', '-1'],
    ['pageSize', '1.5'],
    ['expiryFrom', 'soon'],
    ['expiryTo', '1e99'],
    ['usageFrom', 'x'],
    ['usageTo', 'NaN'],
    ['autoRenew', 'maybe'],
    ['hasTgId', 'on'],
    ['hasComment', 'true'],
    ['search', 'x'.repeat(256)],
  ]) {
    await refused(
      t,
      panel,
      `/panel/api/clients/list/paged?${field}=${value}`,
      {},
      { status: 400, code: 'KERNEL_INVALID', field: field ?? '' },
    );
  }
});
