// Third-party plugins that declare, throw and answer what no compiler lets pass: each costs itself its work, by name.
import test, { type ExecutionContext } from 'ava';
import {
  composeStartupSummary,
  definePlugin,
  contribute,
  int,
  message,
  type Plugin,
  Refusal,
  route,
  tap,
  Upgrades,
} from '../../kernel/index.js';
import { PresenceSources } from '../../plugins/clients/contract.js';
import { CoreUsers } from '../../plugins/engine/contract.js';
import { beforeInboundSave } from '../../plugins/inbounds/contract.js';
import { PanelHosts, SettingGroups } from '../../plugins/settings/contract.js';
import { beforeSubscription, Formats } from '../../plugins/subscription/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { until } from '../harness/until.js';

type Parts = Omit<Parameters<typeof definePlugin>[0], 'name' | 'version' | 'api' | 'about'>;
const odd = (name: string, parts: Parts): Plugin =>
  definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', ...parts });
const serving = (name: string, parts: object): Plugin => {
  const path = `/panel/api/x/${name}/now`;
  const plain = { method: 'GET', path, doc: 'Says it.', reply: message(), handle: () => 'x' } as const;
  return odd(name, { routes: () => [route({ ...plain, ...parts } as typeof plain)] });
};
const format = (name: string, prefix: string) =>
  contribute(Formats, {
    name,
    contentType: 'text/plain',
    prefix: () => prefix,
    cannot: () => undefined,
    compile: () => () => 'line',
    body: () => 'body',
  });
const junk = (value: unknown): never => value as never;

async function boot(t: ExecutionContext, outside: Plugin[]): Promise<TestPanel> {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside, partial: true });
  t.teardown(() => panel[Symbol.asyncDispose]());
  return panel;
}
const blamed = (panel: TestPanel): string[] => [
  ...new Set(
    panel.log
      .map((line) => JSON.parse(line) as { msg: string; plugin?: string })
      .flatMap(({ msg, plugin }) => (msg === 'plugin fault' ? [plugin ?? ''] : [])),
  ),
];

test('what could not be served, listed or described is refused at the start, and all else runs', async (t) => {
  const wrong: readonly (readonly [Plugin, RegExp])[] = [
    [serving('a-path', { path: '/panel/api/x/a-path/(a' }), /its path must be of segments/],
    [serving('a-part', { path: '/panel/api/x/a-part/{id}.json' }), /its path must be of segments/],
    [serving('a-rest', { path: '/panel/api/x/a-rest/{rest*}/more' }), /its path must be of segments/],
    [
      serving('a-handler', { handle: undefined, handler: () => 'x' }),
      /declares a route GET \/panel\/api\/x\/a-handler\/now that cannot be served: it has `handler`, which routes do not have; did you mean handle\?/,
    ],
    [serving('a-responder', { whenever: true }), /it has `whenever`, which routes do not have$/],
    [serving('a-auth', { auth: 'nobody' }), /its auth must be one of admin, session, anyone/],
    [serving('a-reply', { reply: undefined }), /its reply must say how it replies/],
    [serving('a-kind', { reply: { kind: 'song' } }), /its reply must say how it replies/],
    [
      serving('a-file', { method: 'POST', files: { x: { maxBytes: 'all' } } }),
      /its file x has an invalid maxBytes/,
    ],
    [serving('a-get', { files: { x: { maxBytes: 1, most: 1, least: 1 } } }), /a GET takes no files/],
    [
      serving('a-header', { reply: { kind: 'stream', mediaType: 'a/b', headers: 5 } }),
      /its headers of the reply must be a schema/,
    ],
    [serving('a-method', { method: 'BREW' }), /its method must be one of GET, POST/],
    [serving('a-body', { body: 42 }), /its body must be a schema/],
    [serving('a-handle', { handle: undefined }), /its handle must be a function/],
    [
      odd('a-about', {
        contributes: () => [
          contribute(SettingGroups, {
            group: junk({ 'a-about.x': { schema: int(), initial: 1, about: 10n, secret: false } }),
          }),
        ],
      }),
      /the setting a-about.x is of no use: its about must say what it is for/,
    ],
    [
      odd('a-format', { contributes: () => [format('a-format.(b', '/a/')] }),
      /a format needs a name of letters, digits/,
    ],
    [
      odd('a-null', { contributes: () => [contribute(PanelHosts, junk(null))] }),
      /cannot add null to settings\/PanelHosts/,
    ],
    [
      odd('a-host', { contributes: () => [contribute(PanelHosts, junk({ hosts: [null] }))] }),
      /lists of text/,
    ],
    [
      odd('a-text', { contributes: () => [contribute(CoreUsers, junk('users'))] }),
      /it needs the functions user and users/,
    ],
    [
      odd('a-presence', { contributes: () => [contribute(PresenceSources, junk({}))] }),
      /needs a function isOnline/,
    ],
    [
      odd('a-upgrade', { contributes: () => [contribute(Upgrades, junk({ path: 42 }))] }),
      /a path and a function open/,
    ],
  ];
  const panel = await boot(
    t,
    wrong.map(([plugin]) => plugin),
  );
  const listed =
    await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins');
  for (const [{ name }, reason] of wrong) {
    const plugin = listed.find((entry) => entry.name === name);
    t.is(plugin?.state, 'failed', name);
    t.regex(plugin?.reason ?? '', reason);
  }
  t.is((await panel.call('/panel/api/openapi.json')).status, 200);
  t.is((await panel.call('/panel/api/setting/update', { body: { allowedHosts: '127.0.0.1' } })).status, 200);
});

test('a path that means something to the router costs its own format', async (t) => {
  const panel = await boot(t, [odd('b-path', { contributes: () => [format('b-path', '/:a(/*)/')] })]);
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound]);
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  t.is((await fetch(`${panel.subscriptionUrl}${subPath}${ada.subId}`)).status, 200);
  t.deepEqual(blamed(panel), ['b-path']);
});

test('an error that no reply can have is the fault of the guard that made it, and the save goes on', async (t) => {
  const throwing = (name: string, make: () => unknown): Plugin =>
    odd(name, {
      taps: () => [
        tap(beforeInboundSave, () => {
          throw make();
        }),
      ],
    });
  const trap = () => {
    throw new Error('trap');
  };
  const names = ['c-status', 'c-header', 'c-proxy', 'c-getter'];
  const panel = await boot(t, [
    throwing('c-status', () => new Refusal('no', { status: 42 })),
    throwing('c-header', () => new Refusal('no', { headers: { 'a b': '\n' } })),
    throwing('c-proxy', () => new Proxy({}, { get: trap, getPrototypeOf: trap, ownKeys: trap })),
    throwing('c-getter', () => Object.defineProperty(new Error('x'), 'code', { get: trap })),
  ]);
  await panel.addInbound();
  t.deepEqual(blamed(panel).sort(), [...names].sort());
});

test('nobody changes what the line that says `ready` says already', async (t) => {
  const panel = await boot(t, [
    odd('d-ready', {
      taps: () => [
        tap(composeStartupSummary, (add) =>
          add({ msg: 'gone', level: 'debug', panelUrl: 'x', subUrl: 'x', own: 1, long: 'x'.repeat(1e6) }),
        ),
      ],
    }),
  ]);
  const ready = panel.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find(({ msg }) => msg === 'ready');
  t.like(ready, { level: 'info', own: 1 });
  t.regex(String(ready?.['panelUrl']), /^http:/);
  t.regex(String(ready?.['subUrl']), /^http:/);
  t.is(ready?.['long'], '[1000011 characters]');
});

test('a strict guard refuses until its plugin has started; other guards are skipped', async (t) => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const asked: string[] = [];
  const guards = (name: string, strict: boolean): Plugin =>
    odd(name, {
      start: () => gate,
      taps: () => [
        tap(beforeInboundSave, () => void asked.push(name), { strict }),
        tap(beforeSubscription, () => undefined, { strict }),
      ],
    });
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [guards('loose', false), guards('strict', true)],
    limits: { slowStart: 20 },
  });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const add = (port: number) => panel.call('/panel/api/inbounds/add', { body: { port, protocol: 'vless' } });
  t.like(await add(4443), {
    status: 503,
    body: { code: 'KERNEL_PLUGIN_OFF', msg: 'the plugin strict is still starting; try again in a moment' },
  });
  t.is((await panel.get<unknown[]>('/panel/api/inbounds/list')).length, 0);
  t.deepEqual(asked, []);
  release();
  await until(async () => (await add(4443)).status === 200, 'it has started');
  t.deepEqual(asked, ['loose', 'strict']);
});
