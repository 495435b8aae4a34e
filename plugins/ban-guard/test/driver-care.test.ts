// Stored bans and the driver agree, whatever happens to either.
import test from 'ava';
import { type BanFacts, addressesBanned, addressesUnbanned } from '../contract.js';
import { type Database, definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, TestPanel } from '../../../test/harness/index.js';
import { countWrites } from '../../../test/harness/count-writes.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import banGuard from '../index.js';
import { RecordingDriver } from './recording-driver.js';

interface Status {
  readonly driver: string;
  readonly problem: string;
  readonly bans: number;
}
const API = '/panel/api/x/ban-guard';
const status = (panel: TestPanel) => panel.get<Status>(`${API}/status`);
const usable = (panel: TestPanel) => panel.get<Record<string, boolean>>('/panel/api/server/banGuardStatus');
const bans = async (panel: TestPanel) =>
  (await panel.get<BanFacts[]>(`${API}/bans`)).map(({ address, reason }) => `${address} ${reason}`).sort();
const ban = (panel: TestPanel, address: string, more = {}) =>
  panel.get<BanFacts>(`${API}/ban`, { body: { address, ...more } });
async function reconcile(panel: TestPanel): Promise<void> {
  await panel.kernel.settled();
  await panel.get('/panel/api/system/jobs/ban-guard/reconcile', { method: 'POST' });
}
async function use(panel: TestPanel, banGuardDriver: string): Promise<void> {
  await panel.get('/panel/api/setting/update', { body: { banGuardDriver } });
  await reconcile(panel);
}

async function boot(...drivers: RecordingDriver[]) {
  const events: string[] = [];
  const listener = definePlugin({
    name: 'listener',
    version: '0.0.0',
    api: 1,
    about: 'Receives events.',
    taps: () => [
      tap(
        addressesBanned,
        ({ bans: some }) => void events.push(...some.map(({ address }) => `banned ${address}`)),
      ),
      tap(
        addressesUnbanned,
        ({ bans: some }) => void events.push(...some.map(({ address }) => `unbanned ${address}`)),
      ),
    ],
  });
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [listener, ...drivers.map(({ plugin }) => plugin)], clock });
  return { panel, events, clock };
}

test('the status says what is missing', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  const off = { enabled: false, installed: false, usable: false, windows: false };
  t.deepEqual(await usable(panel), off);
  driver.problem = 'it is out of order';
  await use(panel, 'recording');
  t.deepEqual(await usable(panel), { ...off, enabled: true, installed: true });
  t.like(await status(panel), { driver: 'recording', problem: 'it is out of order', bans: 0 });
  t.is((await panel.call(`${API}/ban`, { body: { address: '198.51.100.1' } })).status, 503);
  driver.problem = '';
  await reconcile(panel);
  t.deepEqual(await usable(panel), { ...off, enabled: true, installed: true, usable: true });
  t.true(driver.ports?.open.includes(22));
  t.true(driver.ports?.open.includes(panel.kernel.listeners.panel.port));
  t.deepEqual(driver.ports?.panel, [panel.kernel.listeners.panel.port]);
});

test('a driver that nobody has is refused', async (t) => {
  const { panel } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const answer = await panel.call('/panel/api/setting/update', { body: { banGuardDriver: 'iptables' } });
  t.is(answer.status, 422);
  t.regex(answer.text, /there is no ban driver iptables; there are .*nftables.*banGuardDriver/s);
});

test('bans by hand: each spelling, each refusal, and their end', async (t) => {
  const driver = new RecordingDriver();
  const { panel, events } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  t.is((await panel.call(`${API}/ban`, { body: { address: '198.51.100.1' } })).status, 409, 'it is off');
  await use(panel, 'recording');
  t.like(await ban(panel, '::ffff:198.51.100.1', { minutes: 5 }), {
    address: '198.51.100.1',
    reason: 'admin',
  });
  t.like(await ban(panel, '2001:DB8:0:1:2::3', { scope: 'panel' }), {
    address: '2001:db8:0:1::',
    scope: 'panel',
  });
  for (const address of ['127.0.0.1', '::1', '192.168.1.1', 'fe80::1', '0.0.0.0', '224.0.0.1'])
    t.is((await panel.call(`${API}/ban`, { body: { address } })).status, 422, address);
  for (const address of [
    '',
    'example.org',
    '1.2.3.4/8',
    '1.2.3.4 ',
    '1.2.3.4; flush ruleset',
    '1.2.3.4\n5.6.7.8',
  ])
    t.is((await panel.call(`${API}/ban`, { body: { address } })).status, 400, address);
  for (const minutes of [0, -1, 525_601, 1.5])
    t.is((await panel.call(`${API}/ban`, { body: { address: '198.51.100.1', minutes } })).status, 400);
  t.deepEqual(await bans(panel), ['198.51.100.1 admin', '2001:db8:0:1:: admin']);
  t.is((await panel.call(`${API}/unban`, { body: { address: '198.51.100.2' } })).status, 404);
  t.is((await panel.call(`${API}/unban`, { body: { address: '198.51.100.1', scope: 'panel' } })).status, 404);
  await panel.get(`${API}/unban`, { body: { address: '198.51.100.1' } });
  t.deepEqual(await panel.get(`${API}/unbanAll`, { method: 'POST' }), { ended: 1 });
  t.is(driver.bans.size, 0);
  await panel.kernel.settled();
  t.deepEqual(events, [
    'banned 198.51.100.1',
    'banned 2001:db8:0:1::',
    'unbanned 198.51.100.1',
    'unbanned 2001:db8:0:1::',
  ]);
  const changes = await panel.get<{ name: string; area: string; kind: string }[]>(
    '/panel/api/x/audit/changes?limit=10',
  );
  t.is(changes.filter(({ area }) => area === 'ban').length, 4, 'each is recorded');
});

test('a ban that the driver lost is made again with the rest of its time, one that it has too much is shown', async (t) => {
  const driver = new RecordingDriver();
  const { panel, clock } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '198.51.100.1', { minutes: 10 });
  driver.bans.clear();
  clock.tick(60_000);
  await reconcile(panel);
  t.is(driver.bans.get('proxy 198.51.100.1')?.seconds, 540);
  driver.bans.set('panel 203.0.113.5', { address: '203.0.113.5', scope: 'panel', seconds: 90 });
  await reconcile(panel);
  t.deepEqual(await bans(panel), ['198.51.100.1 admin', '203.0.113.5 driver']);
  await panel.get(`${API}/unban`, { body: { address: '203.0.113.5' } });
  t.false(driver.bans.has('panel 203.0.113.5'));
});

test('a ban that ended while its driver was away is taken away when it is back', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '198.51.100.1');
  driver.problem = 'away';
  await reconcile(panel);
  const answer = await panel.call(`${API}/unban`, { body: { address: '198.51.100.1' } });
  t.is(answer.status, 503);
  t.true(driver.bans.has('proxy 198.51.100.1'));
  driver.problem = '';
  await reconcile(panel);
  t.is(driver.bans.size, 0);
  t.deepEqual(await bans(panel), []);
});

test('a ban that fails is stored, told, and made when the driver works again', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  driver.failure = 'no memory';
  const answer = await panel.call(`${API}/ban`, { body: { address: '198.51.100.1' } });
  t.is(answer.status, 503);
  t.regex(answer.text, /no memory/);
  t.is((await status(panel)).problem, 'no memory');
  driver.failure = '';
  await reconcile(panel);
  t.is(driver.bans.size, 1);
  t.is((await status(panel)).problem, '');
});

test('a driver that is switched off loses all bans; another one gets them', async (t) => {
  const [one, two] = [new RecordingDriver('one'), new RecordingDriver('two')];
  const { panel, events } = await boot(one, two);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'one');
  await ban(panel, '198.51.100.1');
  await use(panel, 'two');
  t.deepEqual([one.cleared, one.bans.size, two.bans.size], [1, 0, 1]);
  t.is((await panel.get<BanFacts[]>(`${API}/bans`))[0]?.driver, 'two');
  await use(panel, '');
  t.deepEqual([two.cleared, two.bans.size], [1, 0]);
  t.deepEqual(await bans(panel), []);
  await panel.kernel.settled();
  t.deepEqual(events, ['banned 198.51.100.1', 'unbanned 198.51.100.1']);
});

test('where nobody bans, nothing is written', async (t) => {
  const inside = servicesOf<{ db: Database }>(banGuard);
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [inside.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await reconcile(panel);
  const writes = countWrites(inside.services.db);
  for (let n = 0; n < 4; n++) {
    clock.tick(30_000);
    await reconcile(panel);
  }
  t.is(writes.count, 0);
});

test('a driver that cannot let go keeps its mark, is told once, and is asked until it can', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '198.51.100.1');
  const clear = driver.clear.bind(driver);
  driver.clear = () => Promise.reject(new Error('not now'));
  await use(panel, '');
  await reconcile(panel);
  t.is(panel.log.filter((line) => line.includes('that is switched off are still there')).length, 1);
  t.deepEqual(await bans(panel), []);
  driver.clear = clear;
  await reconcile(panel);
  t.deepEqual([driver.cleared, driver.bans.size], [1, 0]);
  await reconcile(panel);
  t.is(driver.cleared, 1);
});

test('thousands of bans are stored and listed while others work', async (t) => {
  t.timeout(120_000);
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  for (let i = 0; i < 12_000; i++) {
    const one = { address: `203.${i >> 8}.${i & 255}.1`, scope: 'proxy' as const, seconds: 600 };
    driver.bans.set(`proxy ${one.address}`, one);
  }
  const delays: number[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delays.push(now - last - 5);
    last = now;
  }, 5);
  await reconcile(panel);
  clearInterval(timer);
  t.like(await status(panel), { problem: '', bans: 10_000 }, 'and no more');
  t.log(`longest delay ${Math.round(Math.max(...delays))} ms`);
  const more = await panel.call(`${API}/ban`, { body: { address: '198.51.100.1' } });
  t.is(more.status, 409);
  t.regex(more.text, /end some bans first/);
  t.like(await ban(panel, '203.0.0.1', { minutes: 600 }), { address: '203.0.0.1' }, 'it needs no more room');
  t.deepEqual(await panel.get(`${API}/unbanAll`, { method: 'POST' }), { ended: 10_000 });
  t.deepEqual(await bans(panel), []);
});

test('until a driver is asked, the answers are not those of the previous one', async (t) => {
  const [one, two] = [new RecordingDriver('one'), new RecordingDriver('two')];
  const { panel } = await boot(one, two);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'one');
  let release = (): void => undefined;
  two.state = () =>
    new Promise((resolve) => {
      release = () => resolve({ installed: true, problem: '' });
    });
  await panel.get('/panel/api/setting/update', { body: { banGuardDriver: 'two' } });
  t.like(await usable(panel), { enabled: true, installed: false, usable: false });
  t.is((await panel.call(`${API}/ban`, { body: { address: '198.51.100.1' } })).status, 503);
  release();
});

test('a driver may list addresses in any spelling; what is no address is left out', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '2001:db8:0:1::7');
  driver.calls.length = 0;
  driver.banned = async () => [
    { address: '2001:DB8:0:1::9', scope: 'proxy', seconds: 60 },
    { address: '::ffff:203.0.113.9', scope: 'panel', seconds: 60 },
    { address: '203.0.113.8 }; flush ruleset', scope: 'proxy', seconds: 60 },
    { address: '203.0.113.7', scope: 'elsewhere' as 'proxy', seconds: 60 },
  ];
  await reconcile(panel);
  t.deepEqual(await bans(panel), ['2001:db8:0:1:: admin', '203.0.113.9 driver']);
  t.deepEqual(driver.calls, []);
});

test('a clock that is set back makes no ban longer', async (t) => {
  const driver = new RecordingDriver();
  const { panel, clock } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '198.51.100.1', { minutes: 10 });
  driver.bans.clear();
  clock.tick(-86_400_000);
  await reconcile(panel);
  t.is(driver.bans.get('proxy 198.51.100.1')?.seconds, 600);
});

test('an hour after its end the row of a ban is deleted, and no other', async (t) => {
  let rows: () => Promise<unknown[]> = async () => [];
  const reader = definePlugin({
    name: 'reader',
    version: '0.0.0',
    api: 1,
    about: 'Reads rows.',
    start: ({ db }) => {
      rows = () => db.query('SELECT address FROM ban_guard_bans');
    },
  });
  const driver = new RecordingDriver();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [reader, driver.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '198.51.100.1', { minutes: 1 });
  await ban(panel, '198.51.100.2', { minutes: 30 });
  const prune = async () => {
    await panel.kernel.settled();
    await panel.get('/panel/api/system/jobs/ban-guard/prune', { method: 'POST' });
  };
  clock.tick(60 * 60_000);
  await prune();
  t.is((await rows()).length, 2);
  clock.tick(2 * 60_000);
  await prune();
  t.deepEqual(await rows(), [{ address: '198.51.100.2' }]);
});

test('bans outlive a restart of the panel', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  await use(panel, 'recording');
  await ban(panel, '198.51.100.1');
  await panel.stop();
  t.is(driver.bans.size, 1, 'a stop ends no ban');
  driver.bans.clear();
  const next = await TestPanel.boot({ plugins: [driver.plugin], dataDirectory: panel.dataDirectory });
  t.teardown(() => next.stop());
  await reconcile(next);
  t.is(driver.bans.size, 0, 'by the clock of this panel it is over');
});

test('a driver that hangs delays no request', async (t) => {
  const driver = new RecordingDriver();
  const { panel } = await boot(driver);
  t.teardown(() => panel[Symbol.asyncDispose]());
  let release = (): void => undefined;
  driver.state = () =>
    new Promise((resolve) => {
      release = () => resolve({ installed: true, problem: '' });
    });
  await panel.get('/panel/api/setting/update', { body: { banGuardDriver: 'recording' } });
  t.is((await status(panel)).problem, 'the driver has not been asked yet');
  t.deepEqual(await bans(panel), []);
  release();
});
