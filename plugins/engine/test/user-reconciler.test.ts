import test from 'ava';
import { kernelErrors } from '../../../kernel/index.js';
import { account, World } from './world.js';

const user = (inboundId: number, clientId: number) => ({ inboundId, clientId });
async function opened(users: Readonly<Record<number, string>>): Promise<World> {
  const world = new World();
  world.inbound(1, users);
  await world.open();
  world.driver.news();
  return world;
}

test('a user is added, replaced and removed by the desired state at the call', async (t) => {
  const world = await opened({ 1: 'a' });
  world.users.set('i1.c2', 'b');
  t.deepEqual(await world.supervisor.reconcileUsers([user(1, 2)]), { pending: false, reason: '' });
  world.users.set('i1.c1', 'new');
  await world.supervisor.reconcileUsers([user(1, 1)]);
  t.deepEqual(world.driver.core?.inbounds.get('in-1')?.users.get('i1.c1')?.account, account('new'));
  world.users.delete('i1.c2');
  await world.supervisor.reconcileUsers([user(1, 2)]);
  t.deepEqual(world.driver.news(), ['putUser i1.c2', 'putUser i1.c1', 'removeUser i1.c2']);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
});

test('a user that several changes name, as those of another panel do, is put once', async (t) => {
  const world = await opened({ 1: 'a' });
  world.users.set('i1.c2', 'b');
  await world.supervisor.reconcileUsers([user(1, 2), user(1, 1), user(1, 2)]);
  t.deepEqual(world.driver.news(), ['putUser i1.c2', 'putUser i1.c1']);
});

test('users of an inbound that is not in the config are no concern of the core', async (t) => {
  const world = await opened({});
  t.deepEqual(await world.supervisor.reconcileUsers([user(9, 1)]), { pending: false, reason: '' });
  t.deepEqual(world.driver.news(), []);
});

test('a failed call is pending and retried, once', async (t) => {
  const world = await opened({ 1: 'a' });
  world.users.delete('i1.c1');
  world.driver.silent.set('removeUser', 1);
  const applied = await world.supervisor.reconcileUsers([user(1, 1)]);
  t.true(applied.pending);
  t.regex(applied.reason, /no answer/);
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), []);
  world.driver.news();
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.news(), [], 'nothing is left to be made good');
});

test('a change of several inbounds is pending when the core lacks it at any of them', async (t) => {
  const world = await opened({});
  world.inbound(2);
  world.inbound(3, {}, 1003, 'socks');
  await world.supervisor.reconcileConfig();
  for (const name of ['i1.c1', 'i2.c1', 'i3.c1']) world.users.set(name, 'x');
  world.driver.refuses.set('i2.c1', 'no such flow');
  const applied = await world.supervisor.reconcileUsers([user(1, 1), user(2, 1)]);
  t.deepEqual([applied.pending, applied.reason.includes('no such flow')], [true, true]);
  await world.supervisor.reconcileUsers([user(3, 1)]);
  world.users.set('i3.c2', 'x');
  const later = await world.supervisor.reconcileUsers([user(1, 1), user(3, 2)]);
  t.regex(later.reason, /part of its config/);
  await world.until(() => world.driver.names('in-3')?.length === 2, 'the inbound is replaced');
});

test('a failure among many leaves none of the others out for good', async (t) => {
  const world = await opened({});
  const refs = Array.from({ length: 200 }, (_, i) => user(1, i + 1));
  for (const { clientId } of refs) world.users.set(`i1.c${clientId}`, 'x');
  world.driver.silent.set('putUser', 1);
  t.true((await world.supervisor.reconcileUsers(refs)).pending);
  await world.supervisor.retryPending();
  t.is(world.driver.names('in-1')?.length, 200);
});

test('a change of users of many inbounds yields to the event loop', async (t) => {
  const world = await opened({ 1: 'a' });
  for (const inboundId of [2, 3]) world.inbound(inboundId, {});
  await world.supervisor.reconcileConfig();
  world.driver.news();
  const refs = [1, 2, 3].flatMap((inboundId) =>
    Array.from({ length: 200 }, (_, i) => user(inboundId, inboundId * 1000 + i)),
  );
  for (const { inboundId, clientId } of refs) world.users.set(`i${inboundId}.c${clientId}`, 'x');
  let told = 0;
  const inTurns: number[] = [];
  const look = () => {
    inTurns.push(world.driver.calls.length - told);
    told = world.driver.calls.length;
  };
  const turn = () => {
    look();
    if (told < refs.length) setImmediate(turn);
  };
  setImmediate(turn);
  await world.supervisor.reconcileUsers(refs);
  look();
  t.true(
    inTurns.every((calls) => calls <= 16),
    `calls in each turn: ${inTurns.join()}`,
  );
  t.is(world.driver.calls.length, 600);
});

test('a retry fails while the core is silent, and logs it once', async (t) => {
  const world = await opened({ 1: 'a' });
  world.users.delete('i1.c1');
  world.driver.silent.set('removeUser', 3);
  await world.supervisor.reconcileUsers([user(1, 1)]);
  await world.supervisor.retryPending();
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  t.is(world.said('did not accept a change of users'), 1);
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), []);
});

test('an account that the core rejects delays no other user and no removal', async (t) => {
  const world = await opened({ 1: 'a', 2: 'b' });
  world.driver.refuses.set('i1.c3', 'id must be a UUID');
  world.users.delete('i1.c1');
  world.users.set('i1.c3', 'bad');
  world.users.set('i1.c4', 'd');
  t.true((await world.supervisor.reconcileUsers([user(1, 3), user(1, 4), user(1, 1)])).pending);
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c2', 'i1.c4']);
  t.is(world.said('i1.c3: id must be a UUID'), 1, 'the log names the user');
});

test('a user removed while the inbound is being compared does not come back', async (t) => {
  const world = await opened({ 1: 'a', 2: 'b', 3: 'c' });
  const { driver, supervisor } = world;
  driver.core?.inbounds.get('in-1')?.users.clear();
  driver.silent.set('putUser', 1);
  await supervisor.reconcileUsers([user(1, 1)]);
  // The comparison is under way when the client is deleted and its own change waits for its turn.
  const retried = supervisor.retryPending();
  world.users.delete('i1.c2');
  const applied = supervisor.reconcileUsers([user(1, 2)]);
  await Promise.all([retried, applied]);
  t.deepEqual(driver.names('in-1'), ['i1.c1', 'i1.c3']);
});

/** Calls this once, when the comparison makes its first call of this kind. */
function atFirst(
  world: World,
  kind: 'putUser' | 'removeUser',
  run: () => Promise<unknown>,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = world.driver[kind].bind(world.driver) as (tag: string, user: never) => Promise<void>;
    let isFirst = true;
    world.driver[kind] = async (tag: string, user: unknown) => {
      if (isFirst) {
        isFirst = false;
        run().then(resolve, reject);
      }
      await call(tag, user as never);
    };
  });
}

test('a single change has its turn while many missing users are put', async (t) => {
  const world = await opened({});
  for (let id = 1; id <= 400; id++) world.users.set(`i1.c${id}`, 'x');
  world.driver.silent.set('putUser', 1);
  await world.supervisor.reconcileUsers([user(1, 1)]);
  world.driver.news();
  const single = atFirst(world, 'putUser', async () => {
    world.users.set('i1.c500', 'new');
    await world.supervisor.reconcileUsers([user(1, 500)]);
    return world.driver.names('in-1')?.length;
  });
  await world.supervisor.retryPending();
  t.true(((await single) as number) < 100, 'most of the others were still missing');
  t.is(world.driver.names('in-1')?.length, 401);
});

test('a change that fails while the inbound is being compared is retried', async (t) => {
  const world = await opened({});
  for (let id = 1; id <= 400; id++) world.users.set(`i1.c${id}`, 'x');
  world.driver.silent.set('putUser', 1);
  await world.supervisor.reconcileUsers([user(1, 1)]);
  const failed = atFirst(world, 'putUser', async () => {
    world.users.delete('i1.c1');
    world.driver.silent.set('removeUser', 1);
    return (await world.supervisor.reconcileUsers([user(1, 1)])).pending;
  });
  await world.supervisor.retryPending();
  t.true(await failed);
  t.is(world.driver.names('in-1')?.length, 400, 'the core still has the one');
  await world.supervisor.retryPending();
  t.false(world.driver.names('in-1')?.includes('i1.c1'));
});

test('a user that comes back while surplus users are removed stays', async (t) => {
  const world = await opened({});
  for (let id = 1; id <= 400; id++) world.users.set(`i1.c${id}`, 'x');
  await world.supervisor.reconcileUsers(Array.from({ length: 400 }, (_, i) => user(1, i + 1)));
  world.users.clear();
  world.driver.silent.set('removeUser', 1);
  await world.supervisor.reconcileUsers([user(1, 1)]);
  const back = atFirst(world, 'removeUser', () => {
    world.users.set('i1.c400', 'x');
    return world.supervisor.reconcileUsers([user(1, 400)]);
  });
  await world.supervisor.retryPending();
  await back;
  t.deepEqual(world.driver.names('in-1'), ['i1.c400']);
});

test('a core that is gone is no refusal: nothing is given up', async (t) => {
  const world = await opened({ 1: 'a' });
  world.users.set('i1.c2', 'b');
  world.driver.silent.set('putUser', 1);
  await world.supervisor.reconcileUsers([user(1, 2)]);
  world.driver.silent.set('putUser', 1);
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c2']);
});

test('usersRemoved names users that the core has removed, and no others', async (t) => {
  const world = await opened({ 1: 'a', 2: 'b', 3: 'c' });
  world.users.delete('i1.c1');
  world.users.set('i1.c2', 'new');
  await world.supervisor.reconcileUsers([user(1, 1), user(1, 2)]);
  t.deepEqual(world.removed, [user(1, 1)]);
  world.users.delete('i1.c3');
  world.driver.silent.set('removeUser', 1);
  await world.supervisor.reconcileUsers([user(1, 3)]);
  t.deepEqual(world.removed, [user(1, 1)]);
  await world.supervisor.retryPending();
  t.deepEqual(world.removed, [user(1, 1), user(1, 3)]);
});

test('a user of an adopted core whose account differs in its flow alone is replaced', async (t) => {
  const first = await opened({ 1: 'a', 2: 'b' });
  const users = first.driver.core?.inbounds.get('in-1')?.users;
  users?.set('i1.c1', { name: 'i1.c1', account: { ...account('a'), flow: 'xtls-rprx-vision' } });
  const second = new World(first.leaveCore());
  second.inbound(1, { 1: 'a', 2: 'b' });
  await second.open();
  t.deepEqual(
    second.driver.news().filter((call) => call.startsWith('putUser')),
    ['putUser i1.c1'],
  );
  t.deepEqual(second.driver.core?.inbounds.get('in-1')?.users.get('i1.c1')?.account, account('a'));
});

test('a field that the core does not name is empty: it is the same as an empty one, and not as another', async (t) => {
  const first = await opened({ 1: 'a', 2: 'b' });
  const users = first.driver.core?.inbounds.get('in-1')?.users;
  for (const [client, id] of Object.entries({ 1: 'a', 2: 'b' }))
    users?.set(`i1.c${client}`, { name: `i1.c${client}`, account: { protocol: 'vless', id } });
  users?.set('i1.c2', { name: 'i1.c2', account: { protocol: 'vless' } });
  const second = new World(first.leaveCore());
  second.inbound(1, { 1: 'a', 2: 'b' });
  await second.open();
  t.deepEqual(
    second.driver.news().filter((call) => call.startsWith('putUser')),
    ['putUser i1.c2'],
  );
});

test('while users cannot be read, the core keeps those it has, and follows later', async (t) => {
  const world = await opened({ 1: 'a', 2: 'b' });
  world.users.delete('i1.c1');
  world.unreadable = kernelErrors.PLUGIN_OFF('the plugin clients is reading its data from the database');
  const applied = await world.supervisor.reconcileUsers([user(1, 1), user(1, 2)]);
  t.true(applied.pending);
  t.regex(applied.reason, /is reading its data/);
  // It compares all users of the inbound.
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c1', 'i1.c2']);
  t.true(world.supervisor.admits(user(1, 1)), 'its connections stay open');
  world.unreadable = undefined;
  await world.supervisor.retryPending();
  t.deepEqual(world.driver.names('in-1'), ['i1.c2']);
  t.false(world.supervisor.admits(user(1, 1)));
});
