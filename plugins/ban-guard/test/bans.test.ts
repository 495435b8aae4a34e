// Bans of a whole panel, with a core that accepts what a test names and a driver in memory.
import test from 'ava';
import { World } from '../../addresses/test/world.js';
import { RecordingDriver } from './recording-driver.js';

interface Ban {
  readonly address: string;
  readonly scope: string;
  readonly reason: string;
  readonly email: string;
  readonly driver: string;
  readonly since: number;
  readonly until: number;
}
const driver = new RecordingDriver();
let world: World;
test.before(async () => {
  world = await World.boot({ plugins: [driver.plugin] });
  await use('recording');
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());
test.afterEach.always(async () => {
  driver.problem = driver.failure = '';
  await use('recording');
  await world.post('x/ban-guard/unbanAll');
  world.open = [];
  world.closed.length = 0;
  driver.calls.length = 0;
});

async function reconcile(): Promise<void> {
  await world.settled();
  await world.post('system/jobs/ban-guard/reconcile');
}
/** Each test has networks of its own: what several clients use is spared. */
let networks = 0;
test.beforeEach(() => void networks++);
const at = (host: number): string => `198.51.${networks}.${host}`;
const at6 = (text: string): string => `2001:db8:${networks}:${text}`;
async function use(banGuardDriver: string, more: Record<string, unknown> = {}): Promise<void> {
  await world.settings({ banGuardDriver, ...more });
  await reconcile();
}
const listed = () => world.panel.get<Ban[]>('/panel/api/x/ban-guard/bans');
const addresses = async () => (await listed()).map(({ address }) => address).sort();
const spared = () =>
  world.panel.get<{ address: string; reason: string; sharedWith: string[]; email: string }[]>(
    '/panel/api/x/ban-guard/spared',
  );
let clients = 0;
const limited = (limitIp = 1) => world.client(`limited${clients++}`, { limitIp });

test.serial(
  'of a client over its limit the older address is banned and its connections closed',
  async (t) => {
    const user = await world.client('one', { limitIp: 1 });
    await world.connect(user, at(1));
    await world.pass(1000);
    await world.connect(user, at(2));
    t.deepEqual(driver.calls, [`ban proxy ${at(1)} limitIp one 1800`]);
    t.deepEqual(
      world.closed.map(({ address }) => address),
      [at(1)],
    );
    t.deepEqual(
      world.open.map(({ address }) => address),
      [at(2)],
    );
    const [ban] = await listed();
    t.like(ban, { address: at(1), scope: 'proxy', reason: 'limitIp', email: 'one', driver: 'recording' });
    t.is((ban?.until ?? 0) - (ban?.since ?? 0), 30 * 60_000);
  },
);

test.serial('what is opened between the cut and the ban is closed too', async (t) => {
  const user = await limited();
  await world.connect(user, at(1));
  await world.pass(1000);
  const ban = driver.ban.bind(driver);
  driver.ban = async (bans) => {
    world.open.push({ ...user, address: at(1), key: 'quick' });
    world.open.push({ ...user, address: at(2), key: 'other' });
    await ban(bans);
  };
  t.teardown(() => {
    driver.ban = ban;
  });
  await world.connect(user, at(2));
  t.true(world.closed.some(({ key }) => key === 'quick'));
  t.false(world.closed.some(({ key }) => key === 'other'));
});

test.serial('only as many as exceed the limit are banned, the oldest', async (t) => {
  const user = await limited(2);
  for (const n of [1, 2, 3, 4]) {
    await world.connect(user, at(n));
    await world.pass(1000);
  }
  t.deepEqual(await addresses(), [at(1), at(2)]);
});

test.serial('an address that other clients use is spared, and they are named', async (t) => {
  const [user, other] = [await world.client('alone', { limitIp: 1 }), await world.client('neighbour')];
  await world.connect(user, at6('9::1'));
  await world.connect(other, at6('9::2'));
  await world.pass(1000);
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), []);
  t.like((await spared())[0], {
    address: at6('9::'),
    reason: 'shared',
    email: 'alone',
    sharedWith: ['neighbour'],
  });
  t.true(world.panel.log.some((line) => line.includes('an address over a limitIp is not banned')));
  await world.post('clients/del/neighbour');
  await world.pass(11_000);
  await world.connect(user, at6('9::1'));
  await world.pass(1000);
  await world.connect(user, at(2));
  await world.settled();
  t.deepEqual(await addresses(), [at6('9::')], 'nobody else is there any more');
});

test.serial('an address that a header claims is never banned', async (t) => {
  const user = await limited();
  await world.connect(user, '203.0.113.77', undefined, 0);
  await world.pass(1000);
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), []);
  t.is((await spared())[0]?.reason, 'claimed');
});

test.serial('addresses of ipLimitAllowlist and private ones are never banned', async (t) => {
  await world.settings({ ipLimitAllowlist: `${at(0)}/28` });
  t.teardown(() => world.settings({ ipLimitAllowlist: '' }));
  const user = await limited();
  for (const address of [at(1), '10.1.2.3', at(200)]) {
    await world.connect(user, address);
    await world.pass(1000);
  }
  t.deepEqual(await addresses(), []);
  t.is((await spared())[0]?.reason, 'private');
});

test.serial('after its time an address may come again, and is banned again only when it does', async (t) => {
  const user = await limited();
  await world.connect(user, at(1));
  await world.pass(1000);
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), [at(1)]);
  await world.pass(31 * 60_000);
  t.deepEqual(await addresses(), []);
  await world.connect(user, at(2));
  t.is(driver.calls.filter((call) => call.startsWith('ban')).length, 1);
  await world.pass(1000);
  await world.connect(user, at(1));
  t.deepEqual(await addresses(), [at(2)], 'now the other one is older');
});

test.serial('an admin who ends a ban ends it in the driver, and the address counts again', async (t) => {
  const user = await limited();
  await world.connect(user, at6('5::1'));
  await world.pass(1000);
  await world.connect(user, at(2));
  const ended = await world.post<Ban[]>('x/ban-guard/unban', { address: at6('5:ffff::9') });
  t.deepEqual(
    ended.map(({ address }) => address),
    [at6('5::')],
  );
  t.is(driver.bans.size, 0);
  await world.pass(11_000);
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), []);
});

test.serial('while nothing is banned, ipLimitCut says who is cut', async (t) => {
  await use('');
  const user = await limited();
  await world.connect(user, at(1));
  await world.pass(1000);
  await world.connect(user, at(2));
  t.deepEqual(
    world.closed.map(({ address }) => address),
    [at(2)],
  );
  t.deepEqual(await addresses(), []);
});

test.serial('banGuardLimitIp: false bans nobody over a limit', async (t) => {
  await use('recording', { banGuardLimitIp: false });
  t.teardown(() => world.settings({ banGuardLimitIp: true }));
  const user = await limited();
  await world.connect(user, at(1));
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), []);
});

test.serial('who comes back after a short ban is new there, and keeps the place', async (t) => {
  await world.settings({ banGuardMinutes: 1 });
  const user = await limited();
  await world.connect(user, at(1));
  await world.pass(1000);
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), [at(1)]);
  // A line of the log that comes late is of a connection from before the ban.
  await world.connect(user, at(1), world.clock.now());
  await world.pass(11_000);
  await world.connect(user, at(2));
  t.deepEqual(await addresses(), [at(1)]);
  await world.pass(60_000);
  await world.connect(user, at(1));
  t.deepEqual(await addresses(), [at(2)]);
});
