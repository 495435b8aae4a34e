import test from 'ava';
import type { UserRef } from '../contract.js';
import { World } from './world.js';

const user = (inboundId: number, clientId: number): UserRef => ({ inboundId, clientId });
const MANY = 2000;

/** A core with an inbound of these clients, which answers calls on users only once the gate is open. */
async function opened(clients: readonly number[] = []) {
  const world = new World();
  world.inbound(1, Object.fromEntries(clients.map((id) => [id, 'a'])));
  await world.open();
  world.driver.news();
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { driver } = world;
  const [put, remove] = [driver.putUser.bind(driver), driver.removeUser.bind(driver)];
  driver.putUser = async (...call) => gate.then(() => put(...call));
  driver.removeUser = async (...call) => gate.then(() => remove(...call));
  const drained = () =>
    world.until(() => world.supervisor.status().usersOnTheWay === 0, 'no user is on the way');
  return { world, driver, supervisor: world.supervisor, open, drained };
}

/** Clients from here on, which the core should have. */
function wanted(world: World, from: number, count = MANY): UserRef[] {
  const refs = Array.from({ length: count }, (_, i) => user(1, from + i));
  for (const { clientId } of refs) world.users.set(`i1.c${clientId}`, 'a');
  return refs;
}

test('a large change is answered before the core has it, with the number of its users', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  const applied = await supervisor.reconcileUsers(wanted(world, 1));
  t.true(applied.pending);
  t.is(applied.onTheWay?.users, MANY);
  t.true((applied.onTheWay?.ms ?? 0) > 0);
  t.regex(applied.reason, /^2000 users are on their way/);
  t.deepEqual(driver.names('in-1'), []);
  open();
  await drained();
  await supervisor.reconcileUsers(wanted(world, 1, 1));
  t.is(driver.names('in-1')?.length, MANY);
});

test('a small change overtakes a large one', async (t) => {
  const { world, supervisor, open } = await opened([9000]);
  await supervisor.reconcileUsers(wanted(world, 1));
  world.users.delete('i1.c9000');
  open();
  t.false((await supervisor.reconcileUsers([user(1, 9000)])).pending);
  t.false(world.driver.names('in-1')?.includes('i1.c9000'));
  t.true(supervisor.status().usersOnTheWay > MANY / 2);
});

test('a client that is deleted or replaced while it is on its way ends up so', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  await supervisor.reconcileUsers(wanted(world, 1));
  world.users.delete('i1.c1999');
  const deleted = supervisor.reconcileUsers([user(1, 1999)]);
  world.users.delete('i1.c2');
  const first = supervisor.reconcileUsers([user(1, 2)]);
  world.users.set('i1.c1998', 'b');
  const replaced = supervisor.reconcileUsers([user(1, 1998)]);
  open();
  await Promise.all([deleted, first, replaced]);
  await drained();
  await supervisor.reconcileUsers([user(1, 1)]);
  const users = driver.core?.inbounds.get('in-1')?.users;
  t.is(users?.size, MANY - 2);
  t.false(users?.has('i1.c1999'));
  t.false(users?.has('i1.c2'));
  t.is(users?.get('i1.c1998')?.account['id'], 'b');
});

test('users that lose access go before those that get it', async (t) => {
  const present = Array.from({ length: 1200 }, (_, i) => 5000 + i);
  const { world, driver, supervisor, open, drained } = await opened(present);
  await supervisor.reconcileUsers(wanted(world, 1));
  for (const id of present) world.users.delete(`i1.c${id}`);
  const applied = await supervisor.reconcileUsers(present.map((id) => user(1, id)));
  t.true((applied.onTheWay?.users ?? 0) > MANY, 'all that wait are counted');
  open();
  await drained();
  const calls = driver.news();
  const lastRemoval = calls.findLastIndex((call) => call.startsWith('removeUser'));
  const addedBefore = calls.slice(0, lastRemoval).filter((call) => call.startsWith('putUser'));
  t.true(addedBefore.length <= 64, `${addedBefore.length} users were added before the last removal`);
});

test('a user that two large changes name is brought once', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  const refs = wanted(world, 1);
  await supervisor.reconcileUsers(refs);
  await supervisor.reconcileUsers(refs);
  open();
  await drained();
  await supervisor.reconcileUsers([user(2, 1)]);
  t.true(driver.news().length <= MANY + 64);
});

test('users that the core did not take are brought by the retry', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  driver.silent.set('putUser', 3);
  await supervisor.reconcileUsers(wanted(world, 1));
  open();
  await drained();
  await supervisor.retryPending();
  t.is(driver.names('in-1')?.length, MANY);
});

test('a stop forgets users on their way, and the next start has them', async (t) => {
  const { world, driver, supervisor, open } = await opened();
  await supervisor.reconcileUsers(wanted(world, 1));
  open();
  await supervisor.stop('an admin stopped it');
  t.is(supervisor.status().usersOnTheWay, 0);
  await supervisor.restart('an admin starts it');
  t.is(driver.names('in-1')?.length, MANY);
});

test('users that two large changes remove are removed once, and nobody stays on the way', async (t) => {
  const present = Array.from({ length: 1200 }, (_, i) => 1 + i);
  const { world, driver, supervisor, open, drained } = await opened(present);
  const refs = present.map((id) => user(1, id));
  world.users.clear();
  await supervisor.reconcileUsers(refs);
  const again = await supervisor.reconcileUsers(refs);
  t.is(again.onTheWay?.users, 1200);
  open();
  await drained();
  t.deepEqual(driver.names('in-1'), []);
  t.true(driver.news().length <= 1200 + 64);
});

test('inbounds take turns: a large change of one does not hold up another', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  world.inbound(2);
  await supervisor.reconcileConfig();
  driver.news();
  await supervisor.reconcileUsers(wanted(world, 1));
  const others = Array.from({ length: MANY }, (_, i) => user(2, 1 + i));
  for (const { clientId } of others) world.users.set(`i2.c${clientId}`, 'a');
  await supervisor.reconcileUsers(others);
  open();
  await drained();
  const calls = driver.news();
  const before = calls.slice(
    0,
    calls.findIndex((call) => call.startsWith('putUser i2.')),
  );
  t.true(before.length <= 64, `${before.length} users of the first inbound came before the second one`);
});

test('a stop forgets users that lose access as well: they can lose it again after the next start', async (t) => {
  const present = Array.from({ length: 1200 }, (_, i) => 1 + i);
  const { world, driver, supervisor, open, drained } = await opened(present);
  const refs = present.map((id) => user(1, id));
  world.users.clear();
  await supervisor.reconcileUsers(refs);
  const stopped = supervisor.stop('an admin stopped it');
  t.true(supervisor.status().usersOnTheWay <= 32, 'only those that are being removed just now');
  open();
  await stopped;
  for (const id of present) world.users.set(`i1.c${id}`, 'a');
  await supervisor.restart('an admin starts it');
  t.is(driver.names('in-1')?.length, 1200);
  world.users.clear();
  await supervisor.reconcileUsers(refs);
  await drained();
  await supervisor.reconcileUsers([user(1, 1)]);
  t.deepEqual(driver.names('in-1'), []);
});

test('a user is on the way until the core has answered, and the time is that of all who are', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  const { onTheWay: first } = await supervisor.reconcileUsers(wanted(world, 1));
  let isAsked = false;
  const { putUser } = driver;
  driver.putUser = (...call) => {
    isAsked = true;
    return putUser(...call);
  };
  await world.until(() => isAsked, 'the core receives the first ones');
  t.is(supervisor.status().usersOnTheWay, MANY);
  const { onTheWay: both } = await supervisor.reconcileUsers(wanted(world, 10_000, 1500));
  t.is(both?.users, MANY + 1500);
  t.is(both?.ms, Math.ceil(((first?.ms ?? 0) / MANY) * (MANY + 1500)));
  open();
  await drained();
});

test('without a core, nobody is on the way', async (t) => {
  const { world, driver, supervisor } = await opened();
  await supervisor.stop('an admin stopped it');
  const { pending, onTheWay } = await supervisor.reconcileUsers(wanted(world, 1));
  t.deepEqual([pending, onTheWay, supervisor.status().usersOnTheWay], [true, undefined, 0]);
  await supervisor.restart('an admin starts it');
  t.is(driver.names('in-1')?.length, MANY);
});

test('a large change that comes after another is done is brought as well', async (t) => {
  const { world, driver, supervisor, open, drained } = await opened();
  open();
  await supervisor.reconcileUsers(wanted(world, 1));
  await drained();
  await supervisor.reconcileUsers(wanted(world, 10_000, 1500));
  await drained();
  t.is(driver.names('in-1')?.length, MANY + 1500);
});
