import test from 'ava';
import { choose, defineErrors, event, guard, int, Refusal, stage, tap } from '../index.js';
import type { TapOptions } from '../hooks/kinds.js';
import { latch } from './world.js';
import {
  afterSail,
  beforeSail,
  choosePilot,
  composeCargo,
  crash,
  hookFixtures,
  price,
  sailed,
} from './hook-fixtures.js';

test('a refusal in a guard stops the operation without a fault; later guards are not called', async (t) => {
  const { registry, plugin, log } = hookFixtures();
  const asked: string[] = [];
  registry.add(
    plugin('storm'),
    tap(beforeSail, ({ ship }) => {
      throw new Refusal(`${ship} stays`, { path: 'ship' });
    }),
  );
  registry.add(
    plugin('late'),
    tap(beforeSail, () => void asked.push('late')),
  );
  const error = await t.throwsAsync(registry.check(beforeSail, { ship: 'Argo' }), {
    instanceOf: Refusal,
    message: 'Argo stays',
  });
  t.is(error.status, 422);
  t.deepEqual([...error.issues], [{ path: 'ship', message: 'Argo stays' }]);
  t.deepEqual(asked, []);
  t.deepEqual(log, []);
});

test('a 4xx error in a guard refuses; a 5xx error is a fault', async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  const errors = defineErrors('customs', {
    FORBIDDEN: [403, 'no papers'],
    BROKEN: [503, 'the office is closed'],
  });
  registry.add(
    plugin('office'),
    tap(beforeSail, () => {
      throw errors.BROKEN();
    }),
  );
  await t.notThrowsAsync(registry.check(beforeSail, { ship: 'Argo' }));
  t.is(faults()[0]?.message, 'the office is closed');
  registry.add(
    plugin('customs'),
    tap(beforeSail, () => {
      throw errors.FORBIDDEN();
    }),
  );
  await t.throwsAsync(registry.check(beforeSail, { ship: 'Argo' }), { message: 'no papers' });
});

test('attributes a crash in a guard to its plugin and continues, unless the tap is strict', async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  const asked: string[] = [];
  registry.add(plugin('boiler'), tap(beforeSail, crash));
  registry.add(
    plugin('late'),
    tap(beforeSail, () => void asked.push('late')),
  );
  await registry.check(beforeSail, { ship: 'Argo' });
  t.deepEqual(asked, ['late']);
  t.deepEqual(faults(), [{ name: 'boiler', where: 'fleet/beforeSail of boiler', message: 'out of coal' }]);
  registry.add(
    plugin('pump'),
    tap(beforeSail, async () => Promise.reject(new Error('leak')), { strict: true, stage: stage.FIRST }),
  );
  await t.throwsAsync(registry.check(beforeSail, { ship: 'Argo' }), { message: 'leak' });
  t.deepEqual(asked, ['late']);
  t.is(faults().at(-1)?.name, 'pump');
});

test('a notified guard cannot stop the operation: after a refusal or a strict crash the others are called', async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  const heard: string[] = [];
  registry.add(
    plugin('storm'),
    tap(beforeSail, () => {
      throw new Refusal('stay');
    }),
  );
  registry.add(plugin('pump'), tap(beforeSail, crash, { strict: true }));
  registry.add(
    plugin('late'),
    tap(beforeSail, ({ ship }) => void heard.push(ship)),
  );
  await registry.notify(beforeSail, { ship: 'Argo' });
  t.deepEqual(heard, ['Argo']);
  t.deepEqual(
    faults().map(({ name }) => name),
    ['storm', 'pump'],
  );
});

test('stamps and orders the entries of a draft; removes all entries of a crashing tap', async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  registry.add(
    plugin('grain'),
    tap(composeCargo, async (add, { ship }) => (await Promise.resolve(), add(`grain for ${ship}`, 'straw'))),
  );
  registry.add(
    plugin('spices'),
    tap(composeCargo, (add) => {
      add('pepper');
      crash();
    }),
  );
  registry.add(
    plugin('wine'),
    tap(composeCargo, (add) => add('wine')),
  );
  t.deepEqual(await registry.compose(composeCargo, { ship: 'Argo' }), [
    { plugin: 'grain', entry: 'grain for Argo' },
    { plugin: 'grain', entry: 'straw' },
    { plugin: 'wine', entry: 'wine' },
  ]);
  t.deepEqual(faults(), [{ name: 'spices', where: 'fleet/composeCargo of spices', message: 'out of coal' }]);
});

test('a strict tap fails the whole draft; entries added after the end are ignored', async (t) => {
  const { registry, plugin } = hookFixtures();
  const late: { add?: (entry: string) => void } = {};
  registry.add(
    plugin('slow'),
    tap(composeCargo, (add) => void (late.add = add)),
  );
  const cargo = await registry.compose(composeCargo, { ship: 'Argo' });
  late.add?.('too late');
  t.deepEqual(cargo, []);
  registry.add(plugin('law'), tap(composeCargo, crash, { strict: true }));
  await t.throwsAsync(registry.compose(composeCargo, { ship: 'Argo' }), { message: 'out of coal' });
});

test("a filter passes each tap's value on; a crashing tap leaves the previous value", (t) => {
  const { registry, plugin, faults } = hookFixtures();
  t.is(registry.refine(price, 7, { ship: 'Argo' }), 7);
  registry.add(
    plugin('tax'),
    tap(price, (value) => value + 10),
  );
  registry.add(plugin('broken'), tap(price, crash));
  registry.add(
    plugin('double'),
    tap(price, (value, { ship }) => (ship === 'Argo' ? value * 2 : value)),
  );
  t.is(registry.refine(price, 1, { ship: 'Argo' }), 22);
  t.deepEqual(faults(), [{ name: 'broken', where: 'fleet/price of broken', message: 'out of coal' }]);
});

test('takes the first answer, skips taps without one or that crash, and passes a refusal on', async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  const asked: string[] = [];
  t.is(await registry.choose(choosePilot, 'Argo'), undefined);
  registry.add(
    plugin('absent'),
    tap(choosePilot, () => void asked.push('absent')),
  );
  registry.add(plugin('broken'), tap(choosePilot, crash));
  registry.add(
    plugin('tiphys'),
    tap(choosePilot, async (ship) => `Tiphys for ${ship}`),
  );
  registry.add(
    plugin('never'),
    tap(choosePilot, () => (asked.push('never'), 'Never')),
  );
  t.is(await registry.choose(choosePilot, 'Argo'), 'Tiphys for Argo');
  t.deepEqual(asked, ['absent']);
  t.is(faults()[0]?.name, 'broken');
  registry.add(
    plugin('law'),
    tap(
      choosePilot,
      () => {
        throw new Refusal('no pilot may');
      },
      { stage: stage.FIRST },
    ),
  );
  await t.throwsAsync(registry.choose(choosePilot, 'Argo'), { message: 'no pilot may' });
});

test('accepts a falsy answer', async (t) => {
  const { registry, plugin } = hookFixtures();
  const count = choose<string, number>('fleet/count', int());
  registry.declare('fleet', [count]);
  registry.add(
    plugin('zero'),
    tap(count, () => 0),
  );
  registry.add(
    plugin('one'),
    tap(count, () => 1),
  );
  t.is(await registry.choose(count, ''), 0);
});

test('awaits after hooks one by one; a crash is a fault that stops nothing', async (t) => {
  const { registry, plugin, faults } = hookFixtures();
  const heard: string[] = [];
  const slow = latch();
  registry.add(
    plugin('slow'),
    tap(afterSail, async (ship) => (await slow.opened, void heard.push(`slow ${ship}`))),
  );
  registry.add(
    plugin('broken'),
    tap(afterSail, () => {
      throw new Refusal('too late to refuse');
    }),
  );
  registry.add(
    plugin('last'),
    tap(afterSail, (ship) => void heard.push(`last ${ship}`)),
  );
  const done = registry.after(afterSail, 'Argo').then(() => heard.push('done'));
  t.deepEqual(heard, []);
  slow.open();
  await done;
  t.deepEqual(heard, ['slow Argo', 'last Argo', 'done']);
  t.is(faults()[0]?.message, 'too late to refuse');
});

test('stages set the order, registration the order within one', async (t) => {
  const { registry, plugin } = hookFixtures();
  const order: string[] = [];
  const at = (name: string, options?: TapOptions) =>
    registry.add(
      plugin(name),
      tap(beforeSail, () => void order.push(name), options),
    );
  at('last', { stage: stage.LAST });
  at('normal1');
  at('late', { stage: stage.LATE });
  at('first', { stage: stage.FIRST });
  at('normal2', { stage: stage.NORMAL });
  at('early', { stage: stage.EARLY });
  await registry.check(beforeSail, { ship: 'Argo' });
  t.deepEqual(order, ['first', 'early', 'normal1', 'normal2', 'late', 'last']);
});

test('calls and taps only hooks that their owner declares, with their kind', (t) => {
  const { registry, plugin } = hookFixtures();
  const nothing = () => undefined;
  t.throws(() => registry.declare('fleet', [afterSail]), {
    message: /declares the hook fleet\/afterSail twice/,
  });
  t.throws(() => registry.declare('pirates', [event<string>('fleet/boarded')]), {
    message: 'plugin pirates declares the hook fleet/boarded; its own are called pirates/…',
  });
  t.throws(() => registry.add(plugin('one'), tap(event<string>('fleet/afterSail'), nothing)), {
    message: /plugin one taps the event fleet\/afterSail, which fleet does not declare/,
  });
  t.throws(() => registry.add(plugin('one'), tap(guard<string>('fleet/beforeSale'), nothing)), {
    message: /taps the guard fleet\/beforeSale, which fleet does not declare; did you mean fleet\/beforeSail/,
  });
  t.throws(() => registry.emit(event<string>('fleet/sunk'), ''), {
    message: "the hook fleet/sunk is called but not declared; add it to `hooks` of fleet's definePlugin",
  });
  // Whose owner is off is never called, and who waits for it is told by `weir plugins --explain`.
  registry.add(plugin('one'), tap(event<string>('lighthouse/lit'), nothing));
  t.is(registry.taps.at(-1)?.hook.id, 'lighthouse/lit');
});

test('knows whether a hook is tapped before its payload is made', (t) => {
  const { registry, plugin } = hookFixtures();
  t.false(registry.isUsed(sailed));
  registry.emit(sailed, 'nobody hears it');
  t.false(registry.isUsed(sailed));
  registry.add(
    plugin('log'),
    tap(sailed, () => undefined),
  );
  t.true(registry.isUsed(sailed));
});
