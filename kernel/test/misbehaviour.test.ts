// What one plugin does wrong harms nobody else: each row of the rules, with a good plugin beside the bad one.
import test from 'ava';
import {
  after,
  choose,
  command,
  composeStartupSummary,
  defineErrors,
  draft,
  event,
  contribute,
  extensionPoint,
  guard,
  type Hooks,
  job,
  message,
  provide,
  route,
  table,
  tap,
  token,
  afterKernelOpen,
  column,
  filter,
  num,
  word,
} from '../index.js';
import { HookRegistry } from '../hooks/registry.js';
import { createLog } from '../../panel/log.js';
import { PluginInstance } from '../plugin/instance.js';
import { LIMITS } from '../plugin/limits.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { bare, latch, until, World } from './world.js';

const beforeSow = guard<string>('farm/beforeSow');
const composeFeed = draft<string, string>('farm/composeFeed', word());
const weight = filter<number, string>('farm/weight', num());
const chooseField = choose<string, string>('farm/field', word());
const afterSow = after<string>('farm/afterSow');
const sown = event<string>('farm/sown');
const farmHooks = [beforeSow, composeFeed, weight, chooseField, afterSow, sown];
const never = () => new Promise<never>(() => undefined);
const crash = (): never => {
  throw new Error('weeds');
};

function farm(tap = 20, slow: number = LIMITS.slow) {
  const registry = new HookRegistry({ ...LIMITS, tap, event: 20, slow });
  registry.declare('farm', farmHooks);
  const clock = new FakeClock();
  const lines: {
    msg: string;
    level?: string;
    plugin?: string;
    where?: string;
    error?: { message: string };
  }[] = [];
  const log = createLog({
    level: 'debug',
    readable: false,
    write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]),
  });
  const plugin = (name: string, essential = false): PluginInstance => {
    const instance = new PluginInstance(bare(name, { essential }), log.child({ plugin: name }), clock);
    instance.state = 'running';
    return instance;
  };
  return {
    registry,
    plugin,
    clock,
    faults: () =>
      lines
        .filter(({ msg }) => msg === 'plugin fault')
        .map(({ where, error }) => `${where}: ${error?.message}`),
    warnings: () =>
      lines
        .filter(({ level }) => level === 'warn')
        .map(({ msg, plugin: name, where }) => `${name}: ${msg}: ${where}`),
  };
}

test('a tap that hangs in a guard, draft, choice or after hook becomes a fault, and the others are called', async (t) => {
  const { registry, plugin, faults } = farm();
  const bad = plugin('bad');
  const good = plugin('good');
  const heard: string[] = [];
  for (const hook of [beforeSow, afterSow]) registry.add(bad, tap(hook, never));
  registry.add(
    bad,
    tap(composeFeed, (add) => {
      add('straw');
      return never();
    }),
  );
  registry.add(bad, tap(chooseField, never));
  registry.add(
    good,
    tap(beforeSow, (seed) => void heard.push(`before ${seed}`)),
  );
  registry.add(
    good,
    tap(composeFeed, (add) => add('oats')),
  );
  registry.add(
    good,
    tap(chooseField, () => 'north'),
  );
  registry.add(
    good,
    tap(afterSow, (seed) => void heard.push(`after ${seed}`)),
  );
  await registry.check(beforeSow, 'rye');
  t.deepEqual(await registry.compose(composeFeed, 'cow'), [{ plugin: 'good', entry: 'oats' }]);
  t.is(await registry.choose(chooseField, 'rye'), 'north');
  await registry.after(afterSow, 'rye');
  t.deepEqual(heard, ['before rye', 'after rye']);
  t.deepEqual(
    faults().map((fault) => fault.replace(/ took longer.*/, '')),
    [
      'farm/beforeSow of bad: farm/beforeSow of bad',
      'farm/composeFeed of bad: farm/composeFeed of bad',
      'farm/field of bad: farm/field of bad',
      'farm/afterSow of bad: farm/afterSow of bad',
    ],
  );
});

test('a filter that returns a promise is a fault, and the previous value is used', (t) => {
  const { registry, plugin, faults } = farm();
  const bad = plugin('bad');
  registry.add(bad, tap(weight, (() => never()) as never));
  registry.add(bad, tap(weight, (async () => crash()) as never));
  registry.add(
    plugin('good'),
    tap(weight, (kilos) => kilos + 1),
  );
  t.is(registry.refine(weight, 7, 'cow'), 8);
  const said = 'farm/weight of bad: a filter must be synchronous, but this one returned a promise';
  t.deepEqual(faults(), [said, said]);
});

test('calls the after hooks of a closed plugin without waiting for them', async (t) => {
  const { registry, plugin } = farm(60_000);
  const bad = plugin('bad');
  const heard: string[] = [];
  const late = latch();
  registry.add(
    bad,
    tap(afterSow, (seed) => {
      heard.push(seed);
      return late.opened;
    }),
  );
  registry.add(
    plugin('good'),
    tap(afterSow, (seed) => void heard.push(`good ${seed}`)),
  );
  for (let i = 0; i < 20; i++) bad.fault('here', new Error('x'));
  await registry.after(afterSow, 'rye');
  t.deepEqual(heard, ['rye', 'good rye']);
  late.open();
});

test('attributes a fault of an entry to the plugin that added it', async (t) => {
  const adder = bare('bad', { contributes: () => [contribute(Ears, 1)] });
  const owner = bare('farm', {
    hooks: farmHooks,
    start: ({ contributions }) => {
      for (const { value, fault } of contributions(Ears)) fault(`ear ${value}`, new Error('deaf'));
    },
  });
  await using world = await World.boot([owner, adder]);
  t.like(
    world.log.find(({ msg }) => msg === 'plugin fault'),
    { plugin: 'bad', where: 'ear 1' },
  );
});

/** Taps all hooks as one plugin, and the opening of the panel too; the function calls them all. */
function tapped({ registry, plugin }: ReturnType<typeof farm>): () => Promise<void> {
  const nobody = () => undefined;
  const bad = plugin('bad');
  for (const hook of [beforeSow, afterSow]) registry.add(bad, tap(hook, nobody));
  for (const each of [
    tap(composeFeed, nobody),
    tap(chooseField, nobody),
    tap(weight, (kilos) => kilos),
    tap(sown, nobody),
    tap(afterKernelOpen, nobody),
  ])
    registry.add(bad, each);
  return async () => {
    await registry.check(beforeSow, 'rye');
    await registry.compose(composeFeed, 'cow');
    await registry.choose(chooseField, 'rye');
    registry.refine(weight, 7, 'cow');
    await registry.after(afterSow, 'rye');
    await registry.after(afterKernelOpen, { startedAt: 0 });
    registry.emit(sown, 'rye');
    await bad.queue.settled();
  };
}

test('warns about a slow tap with plugin and hook, once an hour for each tap', async (t) => {
  // However fast a tap is, it takes longer than this.
  const field = farm(20, -1);
  const call = tapped(field);
  const said = ['beforeSow', 'composeFeed', 'field', 'weight', 'afterSow'].map(
    (hook) => `bad: a plugin delays others: farm/${hook} of bad`,
  );
  await call();
  await call();
  field.clock.tick(3_599_000);
  await call();
  t.deepEqual(field.warnings(), said);
  field.clock.tick(1_000);
  await call();
  t.deepEqual(field.warnings(), [...said, ...said]);
  t.deepEqual(field.faults(), []);
});

test('does not warn about a fast tap', async (t) => {
  const field = farm(20, 60_000);
  await tapped(field)();
  t.deepEqual(field.warnings(), []);
});

test('refuses the operation if a strict guard hangs', async (t) => {
  const { registry, plugin } = farm();
  registry.add(plugin('bad'), tap(beforeSow, never, { strict: true }));
  await t.throwsAsync(registry.check(beforeSow, 'rye'), {
    message: /farm\/beforeSow of bad took longer than 0.02 s/,
  });
});

test('waits for an essential plugin', async (t) => {
  const { registry, plugin, faults } = farm(1);
  const slow = latch();
  registry.add(
    plugin('heart', true),
    tap(beforeSow, () => slow.opened),
  );
  const done = registry.check(beforeSow, 'rye').then(() => 'done');
  t.is(await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 50, 'waits'))]), 'waits');
  slow.open();
  t.is(await done, 'done');
  t.deepEqual(faults(), []);
});

test('gives up on a listener that hangs, and calls it for the next event', async (t) => {
  const { registry, plugin, faults } = farm();
  const bad = plugin('bad');
  const heard: string[] = [];
  registry.add(
    bad,
    tap(sown, (seed) => (heard.push(seed), seed === 'rye' ? never() : undefined)),
  );
  registry.emit(sown, 'rye');
  registry.emit(sown, 'oats');
  await bad.queue.settled();
  t.deepEqual(heard, ['rye', 'oats']);
  t.regex(faults().join(), /^farm\/sown of bad: .*took longer/);
});

test('twenty faults of any kind within five minutes close the plugin; the rest keeps running', async (t) => {
  const inner: { hooks?: Hooks } = {};
  const get = (path: string, handle: () => string) =>
    route({ method: 'GET', path, auth: 'anyone', doc: 'x', reply: message(), handle });
  const owner = bare('farm', {
    hooks: farmHooks,
    start: ({ hooks }) => void (inner.hooks = hooks),
    routes: () => [get('/farm', () => 'well')],
  });
  const bad = bare('bad', {
    taps: () => [
      tap(beforeSow, crash),
      tap(composeFeed, crash),
      tap(weight, crash),
      tap(chooseField, crash),
      tap(sown, crash),
    ],
    routes: () => [get('/bad', crash)],
  });
  await using world = await World.boot([owner, bad]);
  const { hooks } = inner;
  if (!hooks) return t.fail('the farm did not start');
  const state = () => world.kernel.plugins().find(({ name }) => name === 'bad');
  for (let round = 0; round < 3; round++) {
    await hooks.check(beforeSow, 'rye');
    t.deepEqual(await hooks.compose(composeFeed, 'cow'), []);
    t.is(hooks.refine(weight, 7, 'cow'), 7);
    t.is(await hooks.choose(chooseField, 'rye'), undefined);
    hooks.emit(sown, 'rye');
    await world.kernel.settled();
    t.is((await world.call('/bad')).status, 500);
  }
  t.is(world.faults().length, 18);
  t.is(state()?.state, 'running');
  await hooks.check(beforeSow, 'rye');
  await hooks.compose(composeFeed, 'cow');
  t.like(state(), { state: 'faulty' });
  t.regex(state()?.reason ?? '', /failed twenty times .* restart/);
  t.is((await world.call('/bad')).status, 503);
  t.is((await world.call('/farm')).body.msg, 'well');
});

test('a flood of events fills only the queue of a slow plugin and does not delay a stop', async (t) => {
  const inner: { hooks?: Hooks } = {};
  let heard = 0;
  const flood = latch();
  const world = await World.boot([
    bare('farm', { hooks: farmHooks, start: ({ hooks }) => void (inner.hooks = hooks) }),
    bare('slow', { taps: () => [tap(sown, () => flood.opened)] }),
    bare('good', { taps: () => [tap(sown, () => void heard++)] }),
  ]);
  t.teardown(() => world[Symbol.asyncDispose]());
  for (let i = 0; i < 900; i++) inner.hooks?.emit(sown, `s${i}`);
  await until(() => heard === 900, 'the good one has heard all');
  for (let i = 0; i < 900; i++) inner.hooks?.emit(sown, `s${i}`);
  await until(() => heard === 1800, 'the good one has heard all again');
  t.is(
    world.log.filter(
      ({ msg, plugin }) => plugin === 'slow' && msg.includes('event queue of the plugin is full'),
    ).length,
    1,
  );
  flood.open();
  await world.kernel.settled();
});

const Well = token<object>('well', 'Well');
const Ears = extensionPoint<number>('farm', 'Ears', (value, { name }) =>
  value > 2 ? `${name} has ${value} ears` : undefined,
);
const wrong = defineErrors('bad', { NO: [403, 'not you'] });
/** How it goes wrong at each step of the start, and what is said. */
const steps: readonly (readonly [string, Parameters<typeof bare>[1], RegExp])[] = [
  [
    'migrate',
    { migrations: [{ name: '0001-bad', up: () => ['CREATE TABEL x (y)'] }] },
    /^plugin bad cannot have its tables: .*migration 0001-bad of plugin bad failed and was rolled back/,
  ],
  [
    'tables',
    { tables: { sheep: table('sheep', { id: column.id() }) } },
    /^the table sheep is declared by a-farm and by bad$/,
  ],
  ['provides', { provides: crash }, /^plugin bad could not be built: weeds$/],
  [
    'token',
    { provides: () => [provide(Well, {})] },
    /^plugin bad provides well\/Well, a token of another plugin$/,
  ],
  ['uses', { uses: { well: Well } }, /^plugin bad needs well\/Well, but well does not provide it$/],
  [
    'contributes',
    { contributes: () => [contribute(Ears, 3)] },
    /^plugin bad cannot add to farm\/Ears: bad has 3 ears$/,
  ],
  ['taps', { taps: crash }, /^plugin bad could not be built: weeds$/],
  [
    'start',
    {
      start: () => {
        throw wrong.NO();
      },
    },
    /^plugin bad did not start: not you$/,
  ],
  ['a start that hangs', { start: never }, /^plugin bad did not start: its start took longer than 0.2 s$/],
  ['commands', { commands: crash }, /^plugin bad cannot offer its commands: weeds$/],
  [
    'a command of others',
    { commands: () => [command({ name: 'farm plough', about: 'x', run: () => undefined })] },
    /^the command farm plough is declared by a-farm and by bad$/,
  ],
  [
    'the name of a command',
    { commands: () => [command({ name: 'Bad!', about: 'x', run: () => undefined })] },
    /^plugin bad declares a command "Bad!"; a name is words of lower-case letters/,
  ],
  ['routes', { routes: crash }, /^plugin bad cannot serve its routes: weeds$/],
  [
    'a path',
    {
      routes: () => [
        route({ method: 'GET', path: '/farm', auth: 'anyone', doc: 'x', reply: message(), handle: () => '' }),
      ],
    },
    /^GET \/farm is declared by a-farm \(\/farm\) and by bad \(\/farm\)$/,
  ],
  [
    'a path of others',
    {
      outside: true,
      routes: () => [
        route({
          method: 'GET',
          path: '/panel/api/barn',
          auth: 'anyone',
          doc: 'x',
          reply: message(),
          handle: () => '',
        }),
      ],
    } as never,
    /^plugin bad declares a route GET \/panel\/api\/barn that cannot be served: \/panel\/api\/barn is not below \/panel\/api\/x\/bad\/ or \/panel\/x\/bad\/, the paths of a third-party plugin; move it there$/,
  ],
  [
    'jobs',
    { jobs: () => [job('plough', 'soon', () => undefined)] },
    /^plugin bad cannot run its jobs: job plough: "soon" is not a valid duration/,
  ],
];
for (const [step, part, said] of steps) {
  test(`left out without a trace when it fails at: ${step}`, async (t) => {
    const story: string[] = [];
    const farmer = bare('a-farm', {
      tables: { sheep: table('sheep', { id: column.id() }) },
      migrations: [{ name: '0001', up: ({ id }) => [`CREATE TABLE sheep (id ${id})`] }],
      start: () => void story.push('start'),
      stop: () => void story.push('stop'),
      routes: () => [
        route({
          method: 'GET',
          path: '/farm',
          auth: 'anyone',
          doc: 'x',
          reply: message(),
          handle: () => 'well',
        }),
      ],
      commands: () => [command({ name: 'farm plough', about: 'x', run: () => undefined })],
    });
    const bad = {
      ...bare('bad', { taps: () => [tap(afterKernelOpen, () => void story.push('bad is there'))], ...part }),
      ...(part && 'outside' in part && { outside: true }),
    };
    await using world = await World.boot([farmer, bare('well'), bad], {
      partial: true,
      limits: { start: 200 },
    });
    t.like(
      world.kernel.plugins().map(({ name, state }) => `${name} ${state}`),
      ['a-farm running', 'well running', 'bad failed'],
    );
    t.regex(world.kernel.plugins().find(({ name }) => name === 'bad')?.reason ?? '', said);
    t.is(world.log.filter(({ msg, plugin }) => msg === 'a plugin is left out' && plugin === 'bad').length, 1);
    t.is((await world.call('/farm')).body.msg, 'well');
    // Whoever had started was stopped before the boot that holds.
    t.is(story.filter((word) => word === 'start').length - story.filter((word) => word === 'stop').length, 1);
    t.false(story.includes('bad is there'));
  });
}

test('becomes ready even if a plugin hangs at the opening or breaks the startup summary', async (t) => {
  const bad = bare('bad', {
    taps: () => [tap(afterKernelOpen, never), tap(composeStartupSummary, crash, { strict: true })],
  });
  await using world = await World.boot([bare('good'), bad], { limits: { tap: 50 } });
  t.truthy(world.log.find(({ msg }) => msg === 'ready'));
  t.deepEqual(
    world.faults().map((fault) => fault.split(':')[0]),
    ['kernel/afterKernelOpen of bad', 'kernel/composeStartupSummary of bad'],
  );
});

test('an essential plugin that fails at the same steps ends the start', async (t) => {
  for (const [step, part, said] of steps.filter(([name]) =>
    ['migrate', 'taps', 'start', 'routes', 'jobs'].includes(name),
  )) {
    await t.throwsAsync(
      World.boot([bare('a-farm'), bare('bad', { essential: true, ...part })], { partial: true }),
      { message: said },
      step,
    );
  }
});
