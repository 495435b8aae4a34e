// The running core is read back; what somebody changed behind the panel's back is fixed.
import test from 'ava';
import { tap } from '../../../kernel/index.js';
import { coreDrifted } from '../contract.js';
import { account, World } from './world.js';

async function boot() {
  const world = new World();
  const drifts: (readonly string[])[] = [];
  world.tap(tap(coreDrifted, ({ found }) => void drifts.push(found)));
  world.inbound(1, { 1: 'a' });
  world.inbound(2, { 1: 'b' });
  world.outbounds.push({ tag: 'far', protocol: 'freedom' });
  await world.open();
  await world.supervisor.checkDrift();
  world.driver.news();
  return { world, drifts, core: world.driver.core };
}

test('a core that runs what it should is left alone', async (t) => {
  const { world, drifts } = await boot();
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.news(), ['running', 'userCount in-2']);
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.news(), ['running', 'userCount in-1'], 'users of one inbound a time');
  t.deepEqual(drifts, []);
});

test('an inbound that is gone comes back, and one that nobody added goes', async (t) => {
  const { world, drifts, core } = await boot();
  core?.inbounds.delete('in-1');
  core?.inbounds.set('strange', { config: {}, users: new Map() });
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.news().slice(1), ['removeInbound strange', 'putInbound in-1']);
  t.deepEqual(drifts, [['the inbound in-1 is missing', 'nobody added the inbound strange']]);
  await world.supervisor.checkDrift();
  t.is(drifts.length, 1, 'it is fixed');
});

test('an outbound that changed or is gone, and rules that are gone, come back', async (t) => {
  const { world, drifts } = await boot();
  world.driver.drift.outbounds.set('far', 'something else');
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.news().slice(1), ['test', 'changeBase +far']);
  world.driver.drift.outbounds.clear();
  await world.supervisor.checkDrift();
  world.driver.news();
  world.driver.drift.lostRules = true;
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.news().slice(1), ['test', 'changeBase rules']);
  t.deepEqual(drifts, [['the outbound far is another one'], ['the rules are others']]);
});

test('rules that the panel itself changed are no drift', async (t) => {
  const { world, drifts } = await boot();
  world.parts.push({ rule: { port: '1', outboundTag: 'far' } });
  await world.supervisor.reconcileConfig();
  await world.supervisor.checkDrift();
  t.deepEqual(drifts, []);
});

test('an inbound with too many or too few users is compared with those that it should have', async (t) => {
  const { world, drifts, core } = await boot();
  core?.inbounds.get('in-1')?.users.set('i1.c9', { name: 'i1.c9', account: account('x') });
  core?.inbounds.get('in-2')?.users.clear();
  await world.supervisor.checkDrift();
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  t.is(drifts.length, 2);
});

test('a core that does not answer is left to others', async (t) => {
  const { world, drifts } = await boot();
  world.driver.silent.set('running', 1);
  await world.supervisor.checkDrift();
  t.is(world.said('could not be read back'), 1);
  t.deepEqual(drifts, []);
  await world.supervisor.checkDrift();
});

test('rules that are gone right after the start are missed', async (t) => {
  const world = new World();
  const drifts: (readonly string[])[] = [];
  world.tap(tap(coreDrifted, ({ found }) => void drifts.push(found)));
  await world.open();
  world.driver.drift.lostRules = true;
  await world.supervisor.checkDrift();
  t.deepEqual(drifts, [['the rules are others']]);
});

test('while a change waits for its retry, nothing is compared', async (t) => {
  const { world } = await boot();
  world.outbounds.push({ tag: 'new', protocol: 'freedom' });
  world.driver.silent.set('changeBase', 1);
  t.true((await world.supervisor.reconcileConfig()).pending);
  world.driver.news();
  await world.supervisor.checkDrift();
  t.deepEqual(world.driver.news(), []);
});

test('users on their way are no drift: neither those of a large call, nor one that a call waits for', async (t) => {
  const { world, drifts } = await boot();
  const { driver, supervisor } = world;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const put = driver.putUser.bind(driver);
  driver.putUser = async (...call) => gate.then(() => put(...call));
  const add = (inboundId: number, from: number, count: number) =>
    Array.from({ length: count }, (_, i) => {
      world.users.set(`i${inboundId}.c${from + i}`, 'a');
      return { inboundId, clientId: from + i };
    });
  const looked = async (): Promise<void> => {
    for (let turn = 0; turn < 2; turn++) await supervisor.checkDrift();
  };
  await supervisor.reconcileUsers(add(1, 100, 2000));
  await looked();
  const awaited = supervisor.reconcileUsers(add(2, 100, 1));
  await looked();
  open();
  await awaited;
  await world.until(() => supervisor.status().usersOnTheWay === 0, 'no user is on the way');
  await looked();
  t.deepEqual(drifts, []);
  t.is(driver.names('in-1')?.length, 2001);
  // None is on the way any more: one that the core lacks is missed.
  world.users.set('i1.c9999', 'a');
  await looked();
  t.is(drifts.length, 1);
});

test('a change that is committed while users are counted is no drift', async (t) => {
  const { world, drifts } = await boot();
  const { driver, supervisor } = world;
  const count = driver.userCount.bind(driver);
  let late: Promise<unknown> | undefined;
  driver.userCount = async (tag) => {
    const has = await count(tag);
    // The caller tells the core only after the commit.
    if (!late) {
      world.users.set('i2.c7', 'a');
      late = Promise.resolve();
      setImmediate(() => (late = supervisor.reconcileUsers([{ inboundId: 2, clientId: 7 }])));
    } else await new Promise(setImmediate);
    return has;
  };
  await supervisor.checkDrift();
  await late;
  t.deepEqual(drifts, []);
});
