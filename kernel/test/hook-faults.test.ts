import test from 'ava';
import {
  event,
  filter,
  type Hooks,
  list,
  type Log,
  message,
  num,
  Refusal,
  route,
  shape,
  tap,
} from '../index.js';
import { HookRegistry } from '../hooks/registry.js';
import { PluginInstance } from '../plugin/instance.js';
import { LIMITS } from '../plugin/limits.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { bare, latch, until, World } from './world.js';
import {
  afterSail,
  beforeSail,
  choosePilot,
  composeCargo,
  crash,
  hookFixtures,
  fleetHooks,
  price,
  sailed,
} from './hook-fixtures.js';

test('closes a plugin after twenty faults in five minutes: skips all its taps except after hooks', async (t) => {
  const { registry, plugin, clock, log } = hookFixtures();
  const bad = plugin('bad');
  const heard: string[] = [];
  registry.add(
    bad,
    tap(beforeSail, () => {
      throw new Refusal('never');
    }),
  );
  registry.add(
    bad,
    tap(composeCargo, (add) => add('rats')),
  );
  registry.add(
    bad,
    tap(price, () => 666),
  );
  registry.add(
    bad,
    tap(choosePilot, () => 'nobody'),
  );
  registry.add(
    bad,
    tap(sailed, (ship) => void heard.push(`event ${ship}`)),
  );
  registry.add(
    bad,
    tap(afterSail, (ship) => void heard.push(`after ${ship}`)),
  );
  for (let i = 0; i < 19; i++) bad.fault('here', new Error('x'));
  clock.tick(300_001);
  bad.fault('here', new Error('the old ones no longer count'));
  t.false(bad.isOff);
  for (let i = 0; i < 18; i++) bad.fault('here', new Error('x'));
  t.false(bad.isOff);
  t.is(registry.refine(price, 1, { ship: '' }), 666);
  bad.fault('here', new Error('the twentieth'));
  t.true(bad.isOff);
  await t.notThrowsAsync(registry.check(beforeSail, { ship: 'Argo' }));
  t.deepEqual(await registry.compose(composeCargo, { ship: 'Argo' }), []);
  t.is(registry.refine(price, 1, { ship: 'Argo' }), 1);
  t.is(await registry.choose(choosePilot, 'Argo'), undefined);
  registry.emit(sailed, 'Argo');
  await registry.after(afterSail, 'Argo');
  await bad.queue.settled();
  t.deepEqual(heard, ['after Argo']);
  t.is(log.filter(({ name, where }) => name === 'bad' && where === undefined).length, 1);
});

test('drops all entries of a tap that adds too many, and calls the others', async (t) => {
  const { registry, plugin } = hookFixtures();
  registry.add(
    plugin('flood'),
    tap(composeCargo, (add) => {
      for (let i = 0; i <= 100_000; i++) add('rat');
    }),
  );
  registry.add(
    plugin('good'),
    tap(composeCargo, (add) => add('grain')),
  );
  const entries = await registry.compose(composeCargo, { ship: 'Argo' });
  t.deepEqual(
    entries.map(({ entry }) => entry),
    ['grain'],
  );
});

test('freezes the value of a filter, and keeps the previous value if its owner rejects one', (t) => {
  const { registry, plugin } = hookFixtures();
  const prices = filter<{ each: number }[], object>('fleet/prices', list(shape({ each: num() })));
  registry.declare('fleet', [prices]);
  const first = plugin('first');
  registry.add(
    first,
    tap(prices, () => [{ each: 2 }]),
  );
  registry.add(
    plugin('vandal'),
    tap(prices, (given) => {
      for (const entry of given) entry.each = 666;
      return given;
    }),
  );
  t.deepEqual(registry.refine(prices, [{ each: 1 }], {}), [{ each: 2 }]);
  const before = [{ each: 1 }];
  t.is(
    registry.refine(prices, before, {}, (given) => (given[0]?.each === 2 ? 'too dear' : undefined)),
    before,
  );
});

test('never closes an essential plugin', (t) => {
  const { plugin } = hookFixtures();
  const heart = plugin('heart', true);
  for (let i = 0; i < 100; i++) heart.fault('here', new Error('x'));
  t.false(heart.isOff);
});

test('returns 503 on the routes of a closed plugin; the others keep running', async (t) => {
  const bad = bare('bad', {
    routes: () => [
      route({ method: 'GET', path: '/bad', auth: 'anyone', doc: 'Fails.', reply: message(), handle: crash }),
    ],
  });
  const good = bare('good', {
    routes: () => [
      route({
        method: 'GET',
        path: '/good',
        auth: 'anyone',
        doc: 'Works.',
        reply: message(),
        handle: () => 'well',
      }),
    ],
  });
  await using world = await World.boot([bad, good], { clock: new FakeClock() });
  for (let i = 0; i < 20; i++) t.is((await world.call('/bad')).status, 500);
  const closed = await world.call('/bad');
  t.is(closed.status, 503);
  t.is(closed.body.code, 'KERNEL_PLUGIN_OFF');
  t.regex(closed.body.msg, /plugin bad/);
  t.is((await world.call('/good')).body.msg, 'well');
  t.is(world.kernel.plugins().find(({ name }) => name === 'bad')?.state, 'faulty');
});

test("throws with both names if a plugin calls another one's hook", async (t) => {
  const inner: { hooks?: Hooks } = {};
  await using _ = await World.boot([
    bare('pirate', { start: ({ hooks }: { hooks: Hooks }) => void (inner.hooks = hooks) }),
  ]);
  const { hooks } = inner;
  if (!hooks) return t.fail('the plugin did not start');
  const blame = { message: /plugin pirate calls the hook fleet\// };
  t.throws(() => hooks.emit(sailed, ''), blame);
  t.throws(() => void hooks.check(beforeSail, { ship: '' }), blame);
  t.throws(() => void hooks.notify(beforeSail, { ship: '' }), blame);
  await t.throwsAsync(hooks.compose(composeCargo, { ship: '' }), blame);
  t.throws(() => hooks.refine(price, 1, { ship: '' }), blame);
  t.throws(() => void hooks.choose(choosePilot, ''), blame);
  t.notThrows(() => hooks.isUsed(sailed));
  // A name that another begins with is another's.
  t.throws(() => hooks.emit(event<string>('pirates/sailed'), ''), {
    message: /pirate calls the hook pirates\//,
  });
});

test('a slow listener delays neither the caller nor other plugins', async (t) => {
  const { registry, plugin } = hookFixtures();
  const slow = latch();
  const heard: string[] = [];
  const tortoise = plugin('tortoise');
  registry.add(
    tortoise,
    tap(sailed, async (ship) => (await slow.opened, void heard.push(`tortoise ${ship}`))),
  );
  registry.add(
    plugin('hare'),
    tap(sailed, (ship) => void heard.push(`hare ${ship}`)),
  );
  registry.emit(sailed, 'a');
  t.deepEqual(heard, []);
  registry.emit(sailed, 'b');
  await until(() => heard.length === 2, 'the hare has heard both');
  t.deepEqual(heard, ['hare a', 'hare b']);
  slow.open();
  await tortoise.queue.settled();
  t.deepEqual(heard.slice(2), ['tortoise a', 'tortoise b']);
});

test("attributes a crash to the listener's plugin, and calls it for the next event", async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  const heard: string[] = [];
  const bad = plugin('bad');
  registry.add(
    bad,
    tap(sailed, (ship) => {
      heard.push(ship);
      if (ship === 'a') crash();
    }),
  );
  registry.emit(sailed, 'a');
  registry.emit(sailed, 'b');
  await bad.queue.settled();
  t.deepEqual(heard, ['a', 'b']);
  t.deepEqual(faults(), [{ name: 'bad', where: 'fleet/sailed of bad', message: 'out of coal' }]);
});

test('a full queue warns once, calls missed after the stored events, and delivers later events again', async (t) => {
  const { registry, plugin, log } = hookFixtures();
  const slow = latch();
  const full = plugin('full');
  const heard: string[] = [];
  const returned = event<string>('fleet/returned');
  registry.declare('fleet', [returned]);
  registry.add(
    full,
    tap(sailed, async (ship) => (await slow.opened, void heard.push(ship)), {
      missed: () => void heard.push('missed sailings'),
    }),
  );
  registry.add(
    full,
    tap(returned, (ship) => void heard.push(ship), { missed: () => void heard.push('missed returns') }),
  );
  for (let i = 0; i < 1500; i++) registry.emit(sailed, `s${i}`);
  registry.emit(returned, 'r');
  slow.open();
  await full.queue.settled();
  t.is(heard.filter((line) => line.startsWith('s')).length, 1000);
  t.deepEqual(heard.slice(1000), ['missed sailings', 'missed returns']);
  t.is(log.filter(({ warned }) => warned?.includes('events')).length, 1);
  registry.emit(returned, 'again');
  await full.queue.settled();
  t.is(heard.at(-1), 'again');
});

test('waits for a thenable and for missed only as long as for a promise', async (t) => {
  const log: string[] = [];
  const noted: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (_, data) => void log.push((data as { error: Error }).error.message),
    child: () => noted,
  };
  const instance = new PluginInstance(bare('hanging'), noted, new FakeClock());
  instance.state = 'running';
  const registry = new HookRegistry({ ...LIMITS, tap: 20, event: 20 });
  registry.declare('fleet', fleetHooks);
  // biome-ignore lint/suspicious/noThenProperty: that is what a plugin may answer with
  const never = () => ({ then: () => undefined }) as unknown as Promise<void>;
  registry.add(instance, tap(beforeSail, never));
  registry.add(instance, tap(afterSail, never));
  registry.add(instance, tap(sailed, never));
  const returned = event<string>('fleet/returned');
  registry.declare('fleet', [returned]);
  registry.add(
    instance,
    tap(returned, () => undefined, { missed: never }),
  );
  await registry.check(beforeSail, { ship: 'a' });
  await registry.after(afterSail, 'a');
  registry.emit(sailed, 'a');
  await instance.queue.settled();
  for (let i = 0; i < 1001; i++) registry.emit(returned, 'a');
  await instance.queue.settled();
  t.is(log.length, 4);
  t.true(log.every((line) => /took longer than 0.02 s$/.test(line)));
});
