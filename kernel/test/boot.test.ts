import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  afterKernelOpen,
  beforeKernelStop,
  composeStartupSummary,
  definePlugin,
  event,
  type Hooks,
  job,
  kernelReady,
  Listeners,
  message,
  provide,
  Refusal,
  route,
  tap,
  token,
} from '../index.js';
import { ConfigError } from '../../panel/variables.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { freePort } from '../../test/harness/api.js';
import { bare, call, latch, people, World } from './world.js';

/** Three plugins, each using the one before, that write down what happens to them. */
function chain(story: string[], broken?: string) {
  const First = token<object>('first', 'First');
  const Second = token<object>('second', 'Second');
  const life = (name: string) => ({
    version: '1.0.0',
    api: 1,
    about: 'Tells its life.',
    name,
    essential: true,
    start: () => {
      story.push(`start ${name}`);
      if (name === broken) throw new Error('the well is dry');
    },
    stop: () => void story.push(`stop ${name}`),
  });
  return [
    definePlugin({ ...life('third'), uses: { second: Second } }),
    definePlugin({ ...life('first'), provides: () => [provide(First, {})] }),
    definePlugin({ ...life('second'), uses: { first: First }, provides: () => [provide(Second, {})] }),
  ];
}
const listens = (port: number): Promise<boolean> =>
  call(port, '/').then(
    () => true,
    () => false,
  );

test('starts plugins after their dependencies and stops them before', async (t) => {
  const story: string[] = [];
  const world = await World.boot(chain(story));
  await world[Symbol.asyncDispose]();
  t.deepEqual(story, [
    'start first',
    'start second',
    'start third',
    'stop third',
    'stop second',
    'stop first',
  ]);
});

test('if an essential plugin fails to start, the boot ends: names it, stops the others in reverse, listens nowhere, frees the folder', async (t) => {
  const story: string[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const error = await t.throwsAsync(
    World.boot(chain(story, 'second'), { folder, env: { WEIR_PANEL_PORT: String(port) } }),
  );
  t.is(error.message, 'plugin second did not start: the well is dry');
  t.is(((error as Error).cause as Error).message, 'the well is dry');
  t.deepEqual(story, ['start first', 'start second', 'stop second', 'stop first']);
  t.false(await listens(port));
  const again = await World.boot(chain([]), { folder });
  await again[Symbol.asyncDispose]();
});

test('if a port is in use, names host and port and stops what had started', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => void other.close());
  const { port } = other.address() as { port: number };
  const story: string[] = [];
  const error = await t.throwsAsync(World.boot(chain(story), { env: { WEIR_PANEL_PORT: String(port) } }));
  const [before, after] = error.message.split(` (process ${process.pid}) `);
  t.regex(before ?? '', new RegExp(`^the panel listener cannot use 127.0.0.1:${port}: \\S+$`));
  t.is(after, 'listens there; stop it or choose another port with WEIR_PANEL_PORT');
  t.deepEqual(story.slice(3), ['stop third', 'stop second', 'stop first']);
});

test('a second listener that cannot open closes the first', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => void other.close());
  const taken = (other.address() as { port: number }).port;
  const port = await freePort();
  const side = definePlugin({
    name: 'side',
    version: '1.0.0',
    api: 1,
    about: 'Opens a listener.',
    uses: { listeners: Listeners },
    start: ({ listeners }) => void listeners.declare('side', { host: '127.0.0.1', port: taken }),
  });
  await t.throwsAsync(World.boot([side], { env: { WEIR_PANEL_PORT: String(port) } }), {
    message: new RegExp(`the side listener cannot use 127.0.0.1:${taken}`),
  });
  t.false(await listens(port));
});

test('closes everything if a step after the listeners fails', async (t) => {
  const late = bare('late', { essential: true, jobs: () => [job('often', 'now and then', () => undefined)] });
  const story: string[] = [];
  const port = await freePort();
  await t.throwsAsync(World.boot([...chain(story), late], { env: { WEIR_PANEL_PORT: String(port) } }), {
    message: /^plugin late cannot run its jobs: .*now and then/,
  });
  t.false(await listens(port));
  t.deepEqual(story.slice(3), ['stop third', 'stop second', 'stop first']);
});

test('names an address that this machine does not have', async (t) => {
  await t.throwsAsync(World.boot([], { env: { WEIR_HOST: '192.0.2.1' } }), {
    message: /^the panel listener cannot use 192\.0\.2\.1:0: .*EADDRNOTAVAIL/,
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);
(hasIpv6 ? test : test.skip)(
  `the address of the panel is one that can be opened, IPv6 too${hasIpv6 ? '' : ' (this machine has no ::1)'}`,
  async (t) => {
    const serve = bare('serve', {
      routes: () => [
        route({
          method: 'GET',
          path: '/hello',
          auth: 'anyone',
          doc: 'x',
          reply: message(),
          handle: () => 'hello',
        }),
      ],
    });
    await using world = await World.boot([serve], { env: { WEIR_HOST: '::1' } });
    t.is(world.kernel.listeners.panelUrl, `http://[::1]:${world.port}/`);
    t.like(await (await fetch(`${world.kernel.listeners.panelUrl}hello`)).json(), { msg: 'hello' });
  },
);

test('checks routes before it listens: rejects duplicates and routes of unknown listeners by name', async (t) => {
  const get = (path: string, listener?: string) =>
    route({
      method: 'GET',
      path,
      auth: 'anyone',
      doc: 'x',
      reply: message(),
      handle: () => '',
      ...(listener && { listener }),
    });
  await t.throwsAsync(
    World.boot([
      bare('one', { routes: () => [get('/a/{x}')] }),
      bare('two', { routes: () => [get('/a/{y}')] }),
    ]),
    {
      message: 'GET /a/{} is declared by one (/a/{x}) and by two (/a/{y})',
    },
  );
  await t.throwsAsync(World.boot([bare('one', { routes: () => [get('/a', 'nowhere')] })]), {
    message:
      /plugin one declares a route GET \/a that cannot be served: no plugin opens its listener "nowhere"/,
  });
});

test('stops listeners, jobs, guards, plugins, database in this order; a second stop does nothing', async (t) => {
  const story: string[] = [];
  const clock = new FakeClock();
  const begun = latch();
  const port = { panel: 0 };
  const watcher = bare('watcher', {
    taps: () => [
      tap(beforeKernelStop, () => {
        throw new Refusal('stay a while');
      }),
      tap(
        beforeKernelStop,
        async ({ reason }) =>
          void story.push(`guard ${reason}, ${(await listens(port.panel)) ? 'open' : 'closed'}`),
      ),
    ],
    jobs: () => [
      job(
        'long',
        '1s',
        (signal) => (
          begun.open(),
          new Promise<void>((done) =>
            signal.addEventListener('abort', () => (story.push('job ended'), done())),
          )
        ),
      ),
    ],
    stop: async ({ db, signal }) => {
      await db.write((tx) => tx.run('CREATE TABLE last_words (x INT)'));
      story.push(`stop, signal ${signal.aborted ? 'given' : 'not given'}`);
    },
  });
  const world = await World.boot([watcher], { clock });
  t.teardown(() => world[Symbol.asyncDispose]());
  port.panel = world.port;
  clock.tick(1000);
  await begun.opened;
  await Promise.all([world.kernel.stop('test'), world.kernel.stop('again')]);
  await world.kernel.stop('and again');
  t.deepEqual(story, ['job ended', 'guard test, closed', 'stop, signal given']);
  t.deepEqual(
    world.log.filter(({ msg }) => msg === 'stopped').map(({ reason }) => reason),
    ['test'],
  );
  // The refusal does not count, but it is not lost either.
  t.regex(world.faults().join(), /kernel\/beforeKernelStop of watcher: stay a while/);
});

test('stops the other plugins if one fails or hangs at its stop', async (t) => {
  const story: string[] = [];
  const inner: { hooks?: Hooks } = {};
  const called = event<number>('z-hangs/called');
  const world = await World.boot([
    bare('a-good', { stop: () => void story.push('good') }),
    bare('b-bad', { stop: () => Promise.reject(new Error('no')) }),
    bare('z-hangs', {
      hooks: [called],
      taps: () => [tap(called, () => new Promise<void>(() => undefined))],
      start: ({ hooks }) => void (inner.hooks = hooks),
      stop: () => void story.push('hangs'),
    }),
  ]);
  t.teardown(() => world[Symbol.asyncDispose]());
  inner.hooks?.emit(called, 1);
  await world.kernel.stop('test');
  t.deepEqual(story, ['hangs', 'good']);
  t.regex(world.faults().join('\n'), /stop: the events took longer than 1 s\nstop: no/);
});

test('delivers events from before the stop', async (t) => {
  const story: string[] = [];
  const said = event<string>('tells/said');
  const inner: { hooks?: Hooks } = {};
  const world = await World.boot([
    bare('tells', { hooks: [said], start: ({ hooks }) => void (inner.hooks = hooks) }),
    bare('hears', {
      taps: () => [tap(said, async (word) => (await new Promise(setImmediate), void story.push(word)))],
      stop: () => void story.push('stop'),
    }),
  ]);
  t.teardown(() => world[Symbol.asyncDispose]());
  inner.hooks?.emit(said, 'one');
  inner.hooks?.emit(said, 'two');
  await world.kernel.stop('test');
  t.deepEqual(story, ['one', 'two', 'stop']);
});

test('calls opened, logs ready, resolves ready: in this order, after the listeners answer', async (t) => {
  const story: string[] = [];
  const clock = new FakeClock();
  const port = await freePort();
  const watcher = bare('watcher', {
    taps: () => [
      tap(
        afterKernelOpen,
        async ({ startedAt }) => void story.push(`open ${startedAt === clock.now()} ${await listens(port)}`),
      ),
      tap(composeStartupSummary, (add) => {
        story.push('line');
        add({ answer: 42 });
      }),
      tap(kernelReady, ({ plugins }) => void story.push(`ready ${plugins.join()}`)),
    ],
  });
  await using world = await World.boot([watcher, people], { clock, env: { WEIR_PANEL_PORT: String(port) } });
  await world.kernel.settled();
  t.deepEqual(story, ['open true true', 'line', 'ready people,watcher']);
  const ready = world.log.find(({ msg }) => msg === 'ready');
  t.deepEqual([ready?.['answer'], ready?.['panelUrl']], [42, `http://127.0.0.1:${port}/`]);
  t.deepEqual(
    world.kernel.plugins().map(({ name, state }) => [name, state]),
    [
      ['people', 'running'],
      ['watcher', 'running'],
    ],
  );
});

test('refuses a data folder that another panel uses, and names its process', async (t) => {
  await using world = await World.boot([]);
  await t.throwsAsync(World.boot([], { folder: world.folder }), {
    message: new RegExp(`data folder .* process id ${process.pid}; .*WEIR_DATA_DIR`),
  });
});

test('names a file that is not a database, and frees the folder', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'weir.sqlite'), 'this is no database, whatever its name says\n'.repeat(100));
  await t.throwsAsync(World.boot([], { folder }), {
    message: /the database in .* cannot be opened: .*not a database/,
  });
  await rm(join(folder, 'weir.sqlite'));
  const world = await World.boot([], { folder });
  await world[Symbol.asyncDispose]();
});

test('creates the data folder for its owner only', async (t) => {
  const parent = await mkdtemp(join(tmpdir(), 'weir-kernel-'));
  t.teardown(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, 'a', 'b');
  const world = await World.boot([], { folder });
  t.is((await stat(folder)).mode & 0o777, 0o700);
  await world[Symbol.asyncDispose]();
});

test('finds a wrong configuration before it touches the data folder', async (t) => {
  const folder = join(tmpdir(), `weir-never-${process.pid}`);
  await t.throwsAsync(World.boot([], { folder, env: { WEIR_PANEL_PORT: 'x' } }), { instanceOf: ConfigError });
  await t.throwsAsync(stat(folder), { code: 'ENOENT' });
});
