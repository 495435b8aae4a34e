// Third-party plugins start beside a panel that serves already: one that takes its time is named and delays nobody, nothing
// of it is called before, and it misses nothing.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import test from 'ava';
import {
  definePlugin,
  kernelReady,
  Listeners,
  message,
  type Plugin,
  route,
  tap,
} from '../../kernel/index.js';
import { afterClientSave, beforeClientSave, clientChanged } from '../../plugins/clients/contract.js';
import { Clients } from '../../plugins/clients/contract.js';
import { composeSubscription } from '../../plugins/subscription/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { until } from '../harness/until.js';

interface Line {
  readonly msg: string;
  readonly plugin?: string;
  readonly starting?: readonly string[];
}
const linesOf = (panel: TestPanel): Line[] => panel.log.map((line) => JSON.parse(line) as Line);

interface Listed {
  readonly name: string;
  readonly state: string;
  readonly reason: string;
}
const listed = async (panel: TestPanel, name: string): Promise<Listed | undefined> =>
  (await panel.get<Listed[]>('/panel/api/system/plugins')).find((plugin) => plugin.name === name);

const says = (name: string): Pick<Plugin, 'routes'> => ({
  routes: () => [
    route({
      method: 'GET',
      path: `/panel/api/x/${name}/says`,
      doc: 'Says it.',
      reply: message(),
      handle: () => 'here',
    }),
  ],
});

/** A plugin whose start ends when the test says so. */
function slow(story: string[], end: Promise<void>): Plugin {
  const note = (what: string) => () => void story.push(what);
  return {
    ...definePlugin({
      name: 'slow',
      version: '1.0.0',
      api: 1,
      about: 'Takes its time.',
      taps: () => [
        tap(beforeClientSave, note('guard')),
        tap(afterClientSave, note('after')),
        tap(clientChanged, note('event')),
        tap(composeSubscription, (add, { entry }) =>
          add({ hostRemark: '', entry: { ...entry, server: 'slow.example' } }),
        ),
      ],
      start: async () => {
        story.push('start');
        await end;
        story.push('started');
      },
    }),
    ...says('slow'),
  };
}

test('one that takes its time is named, delays nobody, is not called before, and misses nothing', async (t) => {
  const story: string[] = [];
  let release = (): void => undefined;
  const end = new Promise<void>((resolve) => (release = resolve));
  const ready: (readonly string[])[] = [];
  const quick = definePlugin({
    name: 'quick',
    version: '1.0.0',
    api: 1,
    about: 'Starts at once.',
    taps: () => [tap(kernelReady, ({ plugins }) => void ready.push(plugins))],
    start: () => undefined,
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [slow(story, end), { ...quick, ...says('quick') }],
    limits: { slowStart: 50 },
  });
  const lines = linesOf(panel);
  t.true(lines.some(({ msg, plugin }) => msg === 'a plugin is still starting' && plugin === 'slow'));
  t.deepEqual(lines.find(({ msg }) => msg === 'ready')?.starting, ['slow']);
  t.is((await panel.call('/panel/api/x/quick/says')).body.msg, 'here');
  t.like(await panel.call('/panel/api/x/slow/says'), {
    status: 503,
    body: { code: 'KERNEL_PLUGIN_OFF', msg: 'the plugin slow is still starting; try again in a moment' },
  });
  t.is((await panel.call('/panel/api/x/slower/says')).status, 404);
  t.like(await listed(panel, 'slow'), { state: 'starting' });

  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound]);
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const fetched = async () =>
    Buffer.from(
      await (await fetch(`${panel.subscriptionUrl}${subPath}${ada.subId}`)).text(),
      'base64',
    ).toString();
  t.notRegex(await fetched(), /slow\.example/);
  t.deepEqual(story, ['start']);
  t.deepEqual(ready, [], 'a start has not come to its end yet');

  release();
  await until(async () => (await listed(panel, 'slow'))?.state === 'running', 'it runs');
  t.is((await panel.call('/panel/api/x/slow/says')).body.msg, 'here');
  await until(
    async () => /slow\.example/.test(await fetched()),
    'what was composed without it is composed again',
  );
  await until(() => story.length >= 4, 'it hears what it missed');
  t.deepEqual(story.slice(0, 2), ['start', 'started']);
  t.deepEqual(story.slice(2).sort(), ['after', 'event']);
  await until(() => ready.length > 0, 'all starts have come to their end');
  t.true(ready[0]?.includes('slow') && ready[0].includes('quick'));
  story.length = 0;
  await panel.addClient('bob', [inbound]);
  await until(() => story.length >= 3, 'it is called as others are');
});

test('one whose start hangs is left out after its time, with whoever needs it, and the panel serves all along', async (t) => {
  const hung = definePlugin({
    name: 'hung',
    version: '1.0.0',
    api: 1,
    about: 'Never starts.',
    start: () => new Promise<void>(() => undefined),
  });
  const broken = definePlugin({
    name: 'broken',
    version: '1.0.0',
    api: 1,
    about: 'Cannot start.',
    uses: { clients: Clients },
    start: () => Promise.reject(new Error('the moon is not full')),
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [
      { ...hung, ...says('hung') },
      { ...broken, ...says('broken') },
    ],
    limits: { slowStart: 20, start: 4_000 },
    partial: true,
  });
  t.like(await listed(panel, 'hung'), { state: 'starting' });
  t.is((await panel.get<unknown[]>('/panel/api/clients/list')).length, 0);
  await until(async () => (await listed(panel, 'hung'))?.state === 'failed', 'it is left out');
  t.like(await listed(panel, 'hung'), {
    reason: 'plugin hung did not start: its start took longer than 4 s',
  });
  t.like(await panel.call('/panel/api/x/hung/says'), {
    status: 503,
    body: { msg: 'plugin hung did not start: its start took longer than 4 s' },
  });
  t.like(await listed(panel, 'broken'), {
    state: 'failed',
    reason: 'plugin broken did not start: the moon is not full',
  });
  const left = linesOf(panel).filter(({ msg }) => msg === 'a plugin is left out');
  t.deepEqual(left.map(({ plugin }) => plugin).sort(), ['broken', 'hung']);
  t.is(
    linesOf(panel).filter(({ msg }) => msg === 'ready').length,
    1,
    'the panel does not become ready twice',
  );
});

test('listeners of their own open when they have started; a port that is taken is the trouble of one alone', async (t) => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const taken = (server.address() as AddressInfo).port;
  const withListener = (name: string, port: number): Plugin =>
    definePlugin({
      name,
      version: '1.0.0',
      api: 1,
      about: 'Has a listener.',
      uses: { listeners: Listeners },
      start: ({ listeners }) => void listeners.declare(name, { host: '127.0.0.1', port }),
      routes: () => [
        route({
          method: 'GET',
          path: '/says',
          listener: name,
          auth: 'anyone',
          doc: 'Says it.',
          reply: message(),
          handle: () => 'here',
        }),
      ],
    });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [withListener('one', 0), withListener('thief', taken), withListener('two', 0)],
    partial: true,
  });
  await panel.kernel.started;
  t.deepEqual(
    await Promise.all(['one', 'thief', 'two'].map(async (name) => (await listed(panel, name))?.state)),
    ['running', 'failed', 'running'],
  );
  t.regex(
    (await listed(panel, 'thief'))?.reason ?? '',
    /^plugin thief cannot serve its routes: the thief listener cannot use 127\.0\.0\.1:\d+: [^:]+ listens there/,
  );
  for (const name of ['one', 'two'])
    t.is((await fetch(`http://127.0.0.1:${panel.kernel.listeners.port(name)}/says`)).status, 200);
});
