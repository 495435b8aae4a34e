// Third-party plugins that go wrong at every hook that there is, one at each, in a whole panel: what the panel does is what it
// does without them, and every one of them is named in the log. How the kernel sees to it is in kernel/test/misbehaviour.test.ts.
import test, { type ExecutionContext } from 'ava';
import { definePlugin, message, type Plugin, route, type Tap } from '../../kernel/index.js';
import { FakeClock } from '../harness/fake-clock.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { type PanelOptions, TestPanel } from '../harness/panel.js';
import { sourceRoot } from '../harness/source-root.js';
import { until } from '../harness/until.js';
import { doorsOf } from '../reference/public-types.js';

type Hook = Tap['hook'];
/** All but those inside a write, which ends when a tap fails: test/outside/during.test.ts. */
const KINDS = new Set(['prepare', 'guard', 'draft', 'filter', 'choose', 'after', 'event']);

/** Every hook of every door. */
async function hooksOf(): Promise<Hook[]> {
  const root = await sourceRoot();
  const doors = (await doorsOf(root)).filter(({ path }) => !path.startsWith('test/'));
  const modules = await Promise.all(
    doors.map(
      ({ path }) => import(new URL(`dist/${path}.js`, root).href) as Promise<Record<string, unknown>>,
    ),
  );
  return modules
    .flatMap((module) => Object.values(module))
    .filter(
      (value): value is Hook =>
        typeof value === 'object' && value !== null && 'kind' in value && KINDS.has(value.kind as string),
    );
}

const nameFor = (id: string): string =>
  `bad-${id.replaceAll(/[A-Z/]/g, (letter) => (letter === '/' ? '-' : `-${letter.toLowerCase()}`))}`;
const bad = (name: string, parts: Partial<Plugin>): Plugin => ({
  ...definePlugin({ name, version: '0.0.0', api: 1, about: 'Goes wrong.' }),
  ...parts,
});
const wrongAt = (hooks: readonly Hook[], fn: () => unknown): Plugin[] =>
  hooks.map((hook) => bad(nameFor(hook.id), { taps: () => [{ hook, fn, options: {} }] }));

interface Line {
  readonly msg: string;
  readonly plugin?: string;
  readonly error?: { readonly message?: string };
}
const faultsIn = (panel: TestPanel): Line[] =>
  panel.log.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === 'plugin fault');

/** A day in the life of a panel; whatever plugins are there, this is what happens. */
async function live(t: ExecutionContext, options: PanelOptions): Promise<TestPanel> {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ ...options, plugins: [engine.plugin], clock });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const poll = async (up: number, down: number) => {
    engine.move(inbound, ada.id, up, down);
    await panel.kernel.settled();
    clock.tick(5000);
    await panel.kernel.settled();
  };
  t.is((await panel.call('/panel/api/clients/list', { anonymous: true })).status, 401);
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound], { totalGB: 100 });
  await panel.addClient('bob', [inbound]);
  t.deepEqual([engine.users.size, engine.inbounds.length], [2, 1]);
  await panel.get('/panel/api/clients/update/ada', { body: { comment: 'first' } });
  await poll(10, 20);
  const listed = () =>
    panel.get<{ email: string; comment: string; enable: boolean; traffic: { up: number; down: number } }[]>(
      '/panel/api/clients/list',
    );
  t.like(
    (await listed()).find(({ email }) => email === 'ada'),
    { comment: 'first', enable: true, traffic: { up: 10, down: 20 } },
  );
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const fetched = await fetch(`${panel.subscriptionUrl}${subPath}${ada.subId}`);
  t.is(fetched.status, 200);
  t.regex(Buffer.from(await fetched.text(), 'base64').toString(), /^vless:\/\//);
  await panel.get('/panel/api/setting/update', { body: { pageSize: 33 } });
  t.is(
    (await panel.get<{ pageSize: number }>('/panel/api/setting/defaultSettings', { method: 'POST' }))
      .pageSize,
    33,
  );
  t.is(
    (await panel.get<{ up: number; clientStats: unknown[] }[]>('/panel/api/inbounds/list'))[0]?.clientStats
      .length,
    2,
  );
  await poll(50, 50);
  t.like(
    (await listed()).find(({ email }) => email === 'ada'),
    { enable: false, traffic: { up: 60, down: 70 } },
  );
  t.is(engine.users.size, 1);
  engine.enter('stop');
  await panel.get('/panel/api/clients/del/bob', { method: 'POST' });
  t.deepEqual(
    (await listed()).map(({ email }) => email),
    ['ada'],
  );
  await panel.kernel.settled();
  return panel;
}

test('without them all is well', async (t) => {
  const panel = await live(t, {});
  t.deepEqual(faultsIn(panel), []);
});

const wrongs: readonly (readonly [string, () => unknown, RegExp])[] = [
  [
    'throw',
    () => {
      throw new Error('weeds');
    },
    /^weeds$/,
  ],
  ['promise and fail', () => Promise.reject(new Error('weeds')), /^weeds$|a promise/],
  ['hang', () => new Promise(() => undefined), /took longer than|a promise/],
];
for (const [what, fn, said] of wrongs) {
  test(`plugins that ${what} at every hook change nothing, and each is named`, async (t) => {
    const hooks = await hooksOf();
    t.true(hooks.length > 25, 'hardly a hook was found');
    const panel = await live(t, { outside: wrongAt(hooks, fn), limits: { tap: 250, event: 250 } });
    await panel.stop();
    const faults = faultsIn(panel);
    const blamed = new Set(faults.map(({ plugin }) => plugin));
    const reached = hooks.filter(({ id }) => blamed.has(nameFor(id)));
    // Some hooks come only with a core.
    t.log(`not reached: ${hooks.flatMap(({ id }) => (blamed.has(nameFor(id)) ? [] : [id])).join(', ')}`);
    t.true(reached.length >= 24, 'hardly a hook was reached');
    t.is(new Set(reached.map(({ kind }) => kind)).size, KINDS.size);
    t.deepEqual(
      // A slow machine may keep the panel's own plugins longer than this test waits.
      faults.filter(
        ({ plugin, error }) => !plugin?.startsWith('bad-') && !error?.message?.includes('took longer'),
      ),
      [],
      'the fault is attributed to another plugin',
    );
    t.deepEqual(
      faults.filter(({ plugin, error }) => plugin?.startsWith('bad-') && !said.test(error?.message ?? '')),
      [],
    );
  });
}

test('a plugin whose route, job and events all fail is closed after twenty faults, for itself alone', async (t) => {
  const hooks = (await hooksOf()).filter(
    ({ id }) => id === 'clients/clientChanged' || id === 'clients/beforeClientSave',
  );
  const crash = () => {
    throw new Error('weeds');
  };
  const path = '/panel/api/x/bad/now';
  const everywhere = bad('bad', {
    taps: () => hooks.map((hook) => ({ hook, fn: crash, options: {} })),
    routes: () => [route({ method: 'GET', path, doc: 'Fails.', reply: message(), handle: crash })],
    jobs: () => [{ name: 'fail', when: '1s', run: crash }],
  });
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [everywhere],
    clock,
  });
  const state = async () =>
    (await panel.get<{ name: string; state: string }[]>('/panel/api/system/plugins')).find(
      ({ name }) => name === 'bad',
    )?.state;
  const inbound = await panel.addInbound();
  for (let i = 0; i < 4; i++) {
    await panel.addClient(`c${i}`, [inbound]);
    t.is((await panel.call(path)).status, 500);
    clock.tick(1000);
    await panel.kernel.settled();
  }
  t.is(await state(), 'running');
  t.is(faultsIn(panel).length, 16);
  for (let i = 0; i < 4; i++) t.is((await panel.call(path)).status, 500);
  t.is(await state(), 'faulty');
  t.is((await panel.call(path)).status, 503);
  clock.tick(3000);
  await panel.addClient('after', [inbound]);
  await panel.kernel.settled();
  t.is(faultsIn(panel).length, 20, 'it is asked no more');
  t.is((await panel.get<unknown[]>('/panel/api/clients/list')).length, 5);
});

test('a flood of requests to a plugin that hangs leaves the others their answers, and the stop is not kept', async (t) => {
  const path = '/panel/api/x/bad/now';
  const hanging = bad('bad', {
    routes: () => [
      route({
        method: 'GET',
        path,
        doc: 'Hangs.',
        reply: message(),
        handle: () => new Promise<never>(() => undefined),
      }),
    ],
  });
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [hanging] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  let broken = 0;
  const flood = Array.from({ length: 200 }, () => panel.call(path).catch(() => void broken++));
  const inbound = await panel.addInbound();
  t.is((await panel.addClient('ada', [inbound])).email as unknown, 'ada');
  await panel.stop();
  await Promise.all(flood);
  await until(() => broken === 200, 'all that hung is cut off');
});

/** Answers that no draft, filter or choice can use. Each call makes new ones, because a promise settles once. */
const junk: Readonly<Record<string, () => unknown>> = {
  text: () => 'weeds',
  number: () => 42,
  nan: () => Number.NaN,
  null: () => null,
  nulls: () => [null, null],
  deep: () => [[[['weeds']]]],
  texts: () => Object.freeze(['weeds']),
  numbers: () => new Float64Array(3),
  big: () => [10n],
  promise: () => Promise.resolve([]),
  thrower: () =>
    new Proxy([], {
      get: () => {
        throw new Error('weeds');
      },
    }),
  many: () => Array.from({ length: 1_000_001 }, () => ({ id: 1, cause: 'quota' })),
};
/** As a tap of this kind gives it. */
const giving = (hook: Hook, make: () => unknown): Tap['fn'] =>
  hook.kind === 'draft' ? (add: (entry: unknown) => void) => add(make()) : make;

test('plugins that give wrong values wherever one is asked for change nothing, and each is named', async (t) => {
  const hooks = (await hooksOf()).filter(
    ({ id, kind }) =>
      ['prepare', 'draft', 'filter', 'choose'].includes(kind) &&
      // Asked of clients beyond a limit of addresses, of which the stand-in of the core has none.
      id !== 'addresses/cutAddresses',
  );
  t.true(hooks.length > 8, 'hardly a hook was found');
  t.deepEqual(
    hooks.filter(({ shape }) => !shape).map(({ id }) => id),
    [],
    'a hook takes whatever it is given',
  );
  const cases = hooks.flatMap((hook) =>
    Object.entries(junk)
      // Nothing is an answer of who has none.
      .filter(([what]) => !(['choose', 'prepare'].includes(hook.kind) && what === 'null'))
      .map(([what, make]) => ({ hook, what, make, name: `${nameFor(hook.id)}-${what}` })),
  );
  const outside = cases.map(({ hook, make, name }) =>
    bad(name, { taps: () => [{ hook, fn: giving(hook, make), options: {} }] }),
  );
  const panel = await live(t, { outside });
  await panel.stop();
  const faults = faultsIn(panel);
  const blamed = new Set(faults.map(({ plugin }) => plugin));
  t.deepEqual(
    cases.flatMap(({ name }) => (blamed.has(name) ? [] : [name])),
    [],
    'these are not named',
  );
  t.deepEqual(
    faults.filter(({ plugin }) => !plugin?.startsWith('bad-')),
    [],
    'the fault is attributed to another plugin',
  );
});

test('numbers, settings and headers that only look right lose no byte, save nothing and break no reply', async (t) => {
  const found = new Map((await hooksOf()).map((hook) => [hook.id, hook]));
  type Usage = { clientId: number; inboundId: number; up: unknown; down: number };
  const usage = (change: (entry: Usage) => object) => (value: readonly Usage[]) => value.map(change);
  const wrong: readonly (readonly [string, string, (value: never) => unknown])[] = [
    ['nan', 'traffic/trafficDeltas', usage((entry) => ({ ...entry, up: Number.NaN }))],
    ['text', 'traffic/trafficDeltas', usage((entry) => ({ ...entry, up: '10' }))],
    ['negative', 'traffic/trafficDeltas', usage((entry) => ({ ...entry, up: -1 }))],
    ['endless', 'traffic/trafficDeltas', usage((entry) => ({ ...entry, up: Number.POSITIVE_INFINITY }))],
    ['stray', 'traffic/trafficDeltas', usage((entry) => ({ ...entry, clientId: 4711 }))],
    [
      'in-place',
      'traffic/trafficDeltas',
      (value: readonly Usage[]) => {
        for (const entry of value) entry.up = Number.NaN;
        return value;
      },
    ],
    ['holes', 'traffic/trafficDeltas', () => new Array(3)],
    ['unknown', 'settings/settingChanges', (changes: object) => ({ ...changes, weeds: 1 })],
    ['unfit', 'settings/settingChanges', (changes: object) => ({ ...changes, pageSize: 'many' })],
    ['split', 'subscription/subscriptionHeaders', (list: object[]) => [...list, ['x-a', 'b\r\nx-c: d']]],
    [
      'packed',
      'subscription/subscriptionHeaders',
      (list: object[]) => [...list, ['Content-Encoding', 'gzip']],
    ],
    [
      'bulky',
      'subscription/subscriptionHeaders',
      (list: object[]) => [...list, ...['a', 'b'].map((key) => [`x-${key}`, 'x'.repeat(8000)])],
    ],
    ['framing', 'subscription/subscriptionHeaders', (list: object[]) => [...list, ['Connection', 'close']]],
    ['loose', 'subscription/subscriptionHeaders', (list: object[]) => [...list, ['x-a', 1]]],
    [
      'stats',
      'inbounds/describeInbounds',
      (rows: object[]) => rows.map((row) => ({ ...row, clientStats: 1 })),
    ],
    ['added', 'inbounds/describeInbounds', (rows: object[]) => rows.map((row) => ({ ...row, extra: 1n }))],
    ['cause', 'traffic/depletionCandidates', (list: object[]) => list.map((one) => ({ ...one, cause: '' }))],
  ];
  const outside = wrong.map(([name, id, fn]) =>
    bad(`bad-${name}`, { taps: () => [{ hook: found.get(id) as Hook, fn, options: {} }] }),
  );
  // What happens in there tells bytes, settings and replies.
  const panel = await live(t, { outside });
  await panel.stop();
  t.deepEqual(
    [...new Set(faultsIn(panel).map(({ plugin }) => plugin))].sort(),
    wrong.map(([name]) => `bad-${name}`).sort(),
  );
});
