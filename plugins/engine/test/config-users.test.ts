// Users that stand in the config of their inbound: it is replaced when they change, and not more often than it must be.
import test from 'ava';
import { ProtocolRefused } from '../driver.js';
import { World } from './world.js';

const user = (inboundId: number, clientId: number) => ({ inboundId, clientId });
const socks = (world: World, id: number, users: Readonly<Record<number, string>>) =>
  world.inbound(id, users, 1000 + id, 'socks');

test('a change replaces the inbound with its users, and says who was given up', async (t) => {
  const world = new World();
  socks(world, 1, { 1: 'a', 2: 'b' });
  world.inbound(2, { 1: 'a' });
  await world.open();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c2']);
  world.driver.news();
  world.users.delete('i1.c1');
  world.users.set('i1.c3', 'c');
  world.users.set('i2.c3', 'c');
  const applied = await world.supervisor.reconcileUsers([user(1, 1), user(1, 3), user(2, 3)]);
  t.deepEqual(applied, { pending: false, reason: '' });
  t.deepEqual(world.driver.news().sort(), ['putInbound in-1', 'putUser i2.c3']);
  t.deepEqual(world.driver.names('in-1'), ['i1.c2', 'i1.c3']);
  t.deepEqual(world.removed, [user(1, 1)]);
});

test('a thousand edits, together or one after another, are a handful of replacements, and the last one is in', async (t) => {
  const world = new World();
  socks(world, 1, {});
  await world.open();
  world.driver.news();
  const add = (client: number) => {
    world.users.set(`i1.c${client}`, 'x');
    return world.supervisor.reconcileUsers([user(1, client)]);
  };
  await Promise.all(Array.from({ length: 1000 }, (_, client) => add(client)));
  const replaced = () => world.driver.calls.filter((call) => call === 'putInbound in-1').length;
  await world.until(() => world.driver.names('in-1')?.length === 1000, 'those that came together are in');
  t.true(replaced() <= 3, `${replaced()} replacements`);
  let later = 0;
  for (let client = 1000; client < 2000; client++) if ((await add(client)).pending) later += 1;
  t.true(later > 900, 'those that come one by one are told that it comes later');
  await world.until(() => world.driver.names('in-1')?.length === 2000, 'those that came one by one are in');
  t.true(replaced() <= 20, `${replaced()} replacements`);
});

test('an adopted core keeps such an inbound while its users are as they were, and gets it whole when they are not', async (t) => {
  const first = new World();
  socks(first, 1, { 1: 'a' });
  socks(first, 2, { 1: 'a' });
  await first.open();
  first.driver.news();
  const second = new World(first.leaveCore());
  socks(second, 1, { 1: 'a' });
  socks(second, 2, { 1: 'b' });
  await second.open();
  t.deepEqual(second.driver.news(), ['putInbound in-2']);
  t.like(second.driver.core?.inbounds.get('in-2')?.users.get('i2.c1')?.account, { password: 'b' });
});

test('users that change while the core starts are not lost', async (t) => {
  const world = new World();
  socks(world, 1, { 1: 'a', 2: 'b' });
  let leave = (): void => undefined;
  world.driver.gate = new Promise((resolve) => (leave = resolve));
  const opened = world.open();
  await world.until(() => world.driver.starts.length === 1, 'the start is under way');
  world.users.delete('i1.c1');
  t.true((await world.supervisor.reconcileUsers([user(1, 1)])).pending);
  leave();
  await opened;
  t.deepEqual(world.driver.names('in-1'), ['i1.c2']);
});

test('a replacement without an answer is retried, and only then a user counts as removed', async (t) => {
  const world = new World();
  socks(world, 1, { 1: 'a', 2: 'b' });
  await world.open();
  world.driver.silent.set('putInbound', 1);
  world.users.delete('i1.c1');
  t.true((await world.supervisor.reconcileUsers([user(1, 1)])).pending);
  t.deepEqual(world.removed, []);
  await world.until(() => {
    void world.supervisor.retryPending();
    return world.driver.names('in-1')?.length === 1;
  }, 'the inbound is put again');
  await world.until(() => world.removed.length > 0, 'the user is given up');
  t.deepEqual(world.removed, [user(1, 1)]);
});

test('an inbound that the core rejects with its users says so, and delays no other', async (t) => {
  const world = new World();
  socks(world, 1, { 1: 'a' });
  world.inbound(2, {});
  await world.open();
  world.driver.refuses.set('in-1', 'too many');
  world.users.set('i1.c2', 'b');
  t.deepEqual(await world.supervisor.reconcileUsers([user(1, 2)]), { pending: true, reason: 'too many' });
  world.users.set('i2.c2', 'b');
  t.deepEqual(await world.supervisor.reconcileUsers([user(2, 2)]), { pending: false, reason: '' });
});

test('an account that is not what its type declares is left out and named; the others are in', async (t) => {
  const world = new World();
  socks(world, 1, { 1: 'a', 2: '\ud800', 3: 'c' });
  world.inbound(2, { 1: 'a', 2: '\ud800' });
  await world.open();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c3']);
  t.deepEqual(world.driver.names('in-2'), ['i2.c1']);
  t.is(world.said('i1.c2: password must be well-formed Unicode'), 1);
  await world.supervisor.reconcileConfig();
  t.is(world.said('i1.c2: password must be well-formed Unicode'), 1, 'once for as long as it goes on');
});

test('when a config is full, the first users are in and removals still work', async (t) => {
  const world = new World();
  const long = 'x'.repeat(60_000);
  socks(world, 1, Object.fromEntries(Array.from({ length: 60 }, (_, at) => [at + 1, long])));
  await world.open();
  t.is(world.driver.names('in-1')?.length, 41);
  t.is(world.said('more users than its config has room for'), 1);
  world.users.delete('i1.c1');
  await world.supervisor.reconcileUsers([user(1, 1)]);
  t.false(world.driver.names('in-1')?.includes('i1.c1'));
  t.true(world.driver.names('in-1')?.includes('i1.c42'));
});

test('an account is held to its declaration when its inbound is saved, with a core or without one', async (t) => {
  const world = new World();
  const inbound = (protocol: string) => ({ tag: 'x', protocol, config: { tag: 'x', protocol } });
  const sample = (account: object) => ({ name: 'i1.c0', account: account as never });
  const examine = (protocol: string, account: object) =>
    world.supervisor.examine(inbound(protocol), sample({ protocol, ...account }));
  const refusals = async () => {
    await t.throwsAsync(examine('unheard', {}), {
      instanceOf: ProtocolRefused,
      message: 'no plugin declares the accounts unheard',
    });
    await t.throwsAsync(examine('socks', { password: 7 }), { message: 'password must be text' });
    await t.throwsAsync(examine('vless', { id: 'a' }), { message: 'flow is missing' });
  };
  await refusals();
  await t.notThrowsAsync(examine('socks', { password: 'a' }), 'the core has its say when there is one');
  await world.open();
  await refusals();
  world.driver.unreadable.set('socks', 'the core reads no users');
  await t.throwsAsync(examine('socks', { password: 'a' }), { message: 'the core reads no users' });
  await t.notThrowsAsync(examine('vless', { id: 'a', flow: '' }));
});
