import test from 'ava';
import { after, choose, defineErrors, draft, event, filter, guard, type Hooks, type Log, Refusal, route, message, stage, tap } from '../index.js';
import type { TapOptions } from '../hooks/kinds.js';
import { HookRegistry } from '../hooks/registry.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { PluginInstance } from '../plugin/instance.js';
import { bare, latch, until, World } from './world.js';

const beforeSail = guard<{ readonly ship: string }>('harbour/beforeSail');
const composeCargo = draft<string, { readonly ship: string }>('harbour/composeCargo');
const price = filter<number, { readonly ship: string }>('harbour/price');
const choosePilot = choose<string, string>('harbour/choosePilot');
const afterSail = after<string>('harbour/afterSail');
const sailed = event<string>('harbour/sailed');

/** A registry and plugins that tap it, each with its own record of faults. */
function harbour() {
  const registry = new HookRegistry();
  const log: { name: string; where?: unknown; message?: string; warned?: string }[] = [];
  const clock = new FakeClock();
  const plugin = (name: string, essential = false): PluginInstance => {
    const noted: Log = {
      debug: () => undefined, info: () => undefined, child: () => noted,
      warn: (warned) => void log.push({ name, warned }),
      error: (_message, data) => void log.push({ name, ...(data && 'where' in data && { where: data.where, message: ((data as { error?: Error }).error as Error).message }) }),
    };
    const instance = new PluginInstance(bare(name, { essential }), noted, clock);
    instance.state = 'running';
    return instance;
  };
  return { registry, log, clock, plugin, faults: () => log.filter(({ where }) => where !== undefined).map(({ name, where, message: text }) => ({ name, where, message: text })) };
}
const crash = () => {
  throw new Error('out of coal');
};

test('a refusal in a guard ends the operation and is nobody\'s fault; later guards are not asked', async (t) => {
  const { registry, plugin, log } = harbour();
  const asked: string[] = [];
  registry.add(plugin('storm'), tap(beforeSail, ({ ship }) => {
    throw new Refusal(`${ship} stays`, { path: 'ship' });
  }));
  registry.add(plugin('late'), tap(beforeSail, () => void asked.push('late')));
  const error = await t.throwsAsync(registry.check(beforeSail, { ship: 'Argo' }), { instanceOf: Refusal, message: 'Argo stays' });
  t.is(error.status, 422);
  t.deepEqual([...error.issues], [{ path: 'ship', message: 'Argo stays' }]);
  t.deepEqual(asked, []);
  t.deepEqual(log, []);
});

test('any 4xx error in a guard refuses; a 5xx one is a fault', async (t) => {
  const { registry, plugin, faults } = harbour();
  const errors = defineErrors('customs', { FORBIDDEN: [403, 'no papers'], BROKEN: [503, 'the office is closed'] });
  registry.add(plugin('office'), tap(beforeSail, () => {
    throw errors.BROKEN();
  }));
  await t.notThrowsAsync(registry.check(beforeSail, { ship: 'Argo' }));
  t.is(faults()[0]?.message, 'the office is closed');
  registry.add(plugin('customs'), tap(beforeSail, () => {
    throw errors.FORBIDDEN();
  }));
  await t.throwsAsync(registry.check(beforeSail, { ship: 'Argo' }), { message: 'no papers' });
});

test('a crash in a guard is blamed on its plugin and the operation goes on, unless the tap is strict', async (t) => {
  const { registry, plugin, faults } = harbour();
  const asked: string[] = [];
  registry.add(plugin('boiler'), tap(beforeSail, crash));
  registry.add(plugin('late'), tap(beforeSail, () => void asked.push('late')));
  await registry.check(beforeSail, { ship: 'Argo' });
  t.deepEqual(asked, ['late']);
  t.deepEqual(faults(), [{ name: 'boiler', where: 'harbour/beforeSail of boiler', message: 'out of coal' }]);
  registry.add(plugin('pump'), tap(beforeSail, async () => Promise.reject(new Error('leak')), { strict: true, stage: stage.FIRST }));
  await t.throwsAsync(registry.check(beforeSail, { ship: 'Argo' }), { message: 'leak' });
  t.deepEqual(asked, ['late']);
  t.is(faults().at(-1)?.name, 'pump');
});

test('a guard that is only told cannot end it: neither refusal nor strict crash keeps the others from hearing', async (t) => {
  const { registry, plugin, faults } = harbour();
  const heard: string[] = [];
  registry.add(plugin('storm'), tap(beforeSail, () => {
    throw new Refusal('stay');
  }));
  registry.add(plugin('pump'), tap(beforeSail, crash, { strict: true }));
  registry.add(plugin('late'), tap(beforeSail, ({ ship }) => void heard.push(ship)));
  await registry.check(beforeSail, { ship: 'Argo' }, false);
  t.deepEqual(heard, ['Argo']);
  t.deepEqual(faults().map(({ name }) => name), ['storm', 'pump']);
});

test('entries of a draft are stamped and in order; all that a crashing tap added is taken out', async (t) => {
  const { registry, plugin, faults } = harbour();
  registry.add(plugin('grain'), tap(composeCargo, async (add, { ship }) => (await Promise.resolve(), add(`grain for ${ship}`, 'straw'))));
  registry.add(plugin('spices'), tap(composeCargo, (add) => {
    add('pepper');
    crash();
  }));
  registry.add(plugin('wine'), tap(composeCargo, (add) => add('wine')));
  t.deepEqual(await registry.compose(composeCargo, { ship: 'Argo' }), [{ plugin: 'grain', entry: 'grain for Argo' }, { plugin: 'grain', entry: 'straw' }, { plugin: 'wine', entry: 'wine' }]);
  t.deepEqual(faults(), [{ name: 'spices', where: 'harbour/composeCargo of spices', message: 'out of coal' }]);
});

test('a strict tap of a draft fails the whole; nothing added after the end gets in', async (t) => {
  const { registry, plugin } = harbour();
  const late: { add?: (entry: string) => void } = {};
  registry.add(plugin('slow'), tap(composeCargo, (add) => void (late.add = add)));
  const cargo = await registry.compose(composeCargo, { ship: 'Argo' });
  late.add?.('too late');
  t.deepEqual(cargo, []);
  registry.add(plugin('law'), tap(composeCargo, crash, { strict: true }));
  await t.throwsAsync(registry.compose(composeCargo, { ship: 'Argo' }), { message: 'out of coal' });
});

test('a filter passes on what each tap returns; that of a crashing tap is the value before it', (t) => {
  const { registry, plugin, faults } = harbour();
  t.is(registry.refine(price, 7, { ship: 'Argo' }), 7);
  registry.add(plugin('tax'), tap(price, (value) => value + 10));
  registry.add(plugin('broken'), tap(price, crash));
  registry.add(plugin('double'), tap(price, (value, { ship }) => (ship === 'Argo' ? value * 2 : value)));
  t.is(registry.refine(price, 1, { ship: 'Argo' }), 22);
  t.deepEqual(faults(), [{ name: 'broken', where: 'harbour/price of broken', message: 'out of coal' }]);
});

test('the first answer wins; who has none or crashes is passed over; a refusal passes through', async (t) => {
  const { registry, plugin, faults } = harbour();
  const asked: string[] = [];
  t.is(await registry.choose(choosePilot, 'Argo'), undefined);
  registry.add(plugin('absent'), tap(choosePilot, () => void asked.push('absent')));
  registry.add(plugin('broken'), tap(choosePilot, crash));
  registry.add(plugin('tiphys'), tap(choosePilot, async (ship) => `Tiphys for ${ship}`));
  registry.add(plugin('never'), tap(choosePilot, () => (asked.push('never'), 'Never')));
  t.is(await registry.choose(choosePilot, 'Argo'), 'Tiphys for Argo');
  t.deepEqual(asked, ['absent']);
  t.is(faults()[0]?.name, 'broken');
  registry.add(plugin('law'), tap(choosePilot, () => {
    throw new Refusal('no pilot may');
  }, { stage: stage.FIRST }));
  await t.throwsAsync(registry.choose(choosePilot, 'Argo'), { message: 'no pilot may' });
});

test('an answer that is falsy is an answer', async (t) => {
  const { registry, plugin } = harbour();
  const count = choose<string, number>('harbour/count');
  registry.add(plugin('zero'), tap(count, () => 0));
  registry.add(plugin('one'), tap(count, () => 1));
  t.is(await registry.choose(count, ''), 0);
});

test('after hooks are awaited one by one; a crash is blamed, fails nothing, and keeps no other from hearing', async (t) => {
  const { registry, plugin, faults } = harbour();
  const heard: string[] = [];
  const slow = latch();
  registry.add(plugin('slow'), tap(afterSail, async (ship) => (await slow.opened, void heard.push(`slow ${ship}`))));
  registry.add(plugin('broken'), tap(afterSail, () => {
    throw new Refusal('too late to refuse');
  }));
  registry.add(plugin('last'), tap(afterSail, (ship) => void heard.push(`last ${ship}`)));
  const done = registry.after(afterSail, 'Argo').then(() => heard.push('done'));
  t.deepEqual(heard, []);
  slow.open();
  await done;
  t.deepEqual(heard, ['slow Argo', 'last Argo', 'done']);
  t.is(faults()[0]?.message, 'too late to refuse');
});

test('stages set the order, registration the order within one', async (t) => {
  const { registry, plugin } = harbour();
  const order: string[] = [];
  const at = (name: string, options?: TapOptions) => registry.add(plugin(name), tap(beforeSail, () => void order.push(name), options));
  at('last', { stage: stage.LAST });
  at('normal1');
  at('late', { stage: stage.LATE });
  at('first', { stage: stage.FIRST });
  at('normal2', { stage: stage.NORMAL });
  at('early', { stage: stage.EARLY });
  await registry.check(beforeSail, { ship: 'Argo' });
  t.deepEqual(order, ['first', 'early', 'normal1', 'normal2', 'late', 'last']);
});

test('one id cannot be two kinds of hook', (t) => {
  const { registry, plugin } = harbour();
  registry.add(plugin('one'), tap(guard<string>('harbour/beforeIt'), () => undefined));
  t.throws(() => registry.add(plugin('two'), tap(event<string>('harbour/beforeIt'), () => undefined)), { message: /harbour\/beforeIt is declared as guard and as event/ });
});

test('whether a hook is used is known before its payload is made', (t) => {
  const { registry, plugin } = harbour();
  t.false(registry.isUsed(sailed));
  registry.emit(sailed, 'nobody hears it');
  t.false(registry.isUsed(sailed));
  registry.add(plugin('log'), tap(sailed, () => undefined));
  t.true(registry.isUsed(sailed));
});

test('twenty faults within five minutes close a plugin: guards, drafts, filters, answers and events pass it over, after hooks do not', async (t) => {
  const { registry, plugin, clock, log } = harbour();
  const bad = plugin('bad');
  const heard: string[] = [];
  registry.add(bad, tap(beforeSail, () => {
    throw new Refusal('never');
  }));
  registry.add(bad, tap(composeCargo, (add) => add('rats')));
  registry.add(bad, tap(price, () => 666));
  registry.add(bad, tap(choosePilot, () => 'nobody'));
  registry.add(bad, tap(sailed, (ship) => void heard.push(`event ${ship}`)));
  registry.add(bad, tap(afterSail, (ship) => void heard.push(`after ${ship}`)));
  for (let i = 0; i < 19; i++) bad.fault('here', new Error('x'));
  clock.tick(300_001);
  bad.fault('here', new Error('the old ones no longer count'));
  t.false(bad.faulty);
  for (let i = 0; i < 18; i++) bad.fault('here', new Error('x'));
  t.false(bad.faulty);
  t.is(registry.refine(price, 1, { ship: '' }), 666);
  bad.fault('here', new Error('the twentieth'));
  t.true(bad.faulty);
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

test('an essential plugin is never closed', (t) => {
  const { plugin } = harbour();
  const heart = plugin('heart', true);
  for (let i = 0; i < 100; i++) heart.fault('here', new Error('x'));
  t.false(heart.faulty);
});

test('a closed plugin answers 503 on its routes, and the others go on', async (t) => {
  const bad = bare('bad', { routes: () => [route({ method: 'GET', path: '/bad', auth: 'anyone', doc: 'Fails.', reply: message(), handle: crash })] });
  const good = bare('good', { routes: () => [route({ method: 'GET', path: '/good', auth: 'anyone', doc: 'Works.', reply: message(), handle: () => 'well' })] });
  await using world = await World.boot([bad, good], { clock: new FakeClock() });
  for (let i = 0; i < 20; i++) t.is((await world.call('/bad')).status, 500);
  const closed = await world.call('/bad');
  t.is(closed.status, 503);
  t.is(closed.body.code, 'KERNEL_PLUGIN_OFF');
  t.regex(closed.body.msg, /plugin bad/);
  t.is((await world.call('/good')).body.msg, 'well');
  t.is(world.kernel.plugins().find(({ name }) => name === 'bad')?.state, 'faulty');
});

test('calling another plugin\'s hook throws, with both names', async (t) => {
  const inner: { hooks?: Hooks } = {};
  await using _ = await World.boot([bare('pirate', { start: ({ hooks }: { hooks: Hooks }) => void (inner.hooks = hooks) })]);
  const { hooks } = inner;
  if (!hooks) return t.fail('the plugin did not start');
  const blame = { message: /plugin pirate calls the hook harbour\// };
  t.throws(() => hooks.emit(sailed, ''), blame);
  t.throws(() => void hooks.check(beforeSail, { ship: '' }), blame);
  t.throws(() => void hooks.announce(beforeSail, { ship: '' }), blame);
  t.throws(() => void hooks.compose(composeCargo, { ship: '' }), blame);
  t.throws(() => hooks.refine(price, 1, { ship: '' }), blame);
  t.throws(() => void hooks.choose(choosePilot, ''), blame);
  t.notThrows(() => hooks.isUsed(sailed));
  // A name that another begins with is another's.
  t.throws(() => hooks.emit(event<string>('pirates/sailed'), ''), { message: /pirate calls the hook pirates\// });
});

test('a slow listener delays neither the caller nor other plugins', async (t) => {
  const { registry, plugin } = harbour();
  const slow = latch();
  const heard: string[] = [];
  const tortoise = plugin('tortoise');
  registry.add(tortoise, tap(sailed, async (ship) => (await slow.opened, void heard.push(`tortoise ${ship}`))));
  registry.add(plugin('hare'), tap(sailed, (ship) => void heard.push(`hare ${ship}`)));
  registry.emit(sailed, 'a');
  t.deepEqual(heard, []);
  registry.emit(sailed, 'b');
  await until(() => heard.length === 2, 'the hare has heard both');
  t.deepEqual(heard, ['hare a', 'hare b']);
  slow.open();
  await tortoise.queue.settled();
  t.deepEqual(heard.slice(2), ['tortoise a', 'tortoise b']);
});

test('a crashing listener is blamed and hears the next event', async (t) => {
  const { registry, plugin, faults } = harbour();
  const heard: string[] = [];
  const bad = plugin('bad');
  registry.add(bad, tap(sailed, (ship) => {
    heard.push(ship);
    if (ship === 'a') crash();
  }));
  registry.emit(sailed, 'a');
  registry.emit(sailed, 'b');
  await bad.queue.settled();
  t.deepEqual(heard, ['a', 'b']);
  t.deepEqual(faults(), [{ name: 'bad', where: 'harbour/sailed of bad', message: 'out of coal' }]);
});

test('a queue that overflows warns once and tells each tap that asked, after what it did keep; later events are heard again', async (t) => {
  const { registry, plugin, log } = harbour();
  const slow = latch();
  const full = plugin('full');
  const heard: string[] = [];
  const returned = event<string>('harbour/returned');
  registry.add(full, tap(sailed, async (ship) => (await slow.opened, void heard.push(ship)), { missed: () => void heard.push('missed sailings') }));
  registry.add(full, tap(returned, (ship) => void heard.push(ship), { missed: () => void heard.push('missed returns') }));
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
