// Declarations by authors whose compiler does not tell them.
import test from 'ava';
import { definePlugin, tap, text } from '../../kernel/index.js';
import { describeInbounds } from '../../plugins/inbounds/contract.js';
import { PluginError } from '../../kernel/plugin/error.js';
import { asThirdParty } from '../../panel/third-party.js';
import { didYouMean } from '../../schema/suggest.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { bootWith, folderOf, source, thirdParty } from './third-party.js';

const part = { name: 'oven', version: '1.0.0', api: 1, about: 'For a test.' } as const;

test('an unknown part of a declaration is named with the part that was meant', (t) => {
  for (const [key, meant] of [
    ['extends', 'did you mean contributes?'],
    ['tap', 'did you mean taps?'],
    ['route', 'did you mean routes?'],
    ['migration', 'did you mean migrations?'],
    ['listeners', 'did you mean taps?'],
    ['colour', 'there are essential, hooks, config, '],
  ] as const) {
    const plugin = definePlugin({ ...part, ...{ [key]: () => [] } });
    const error = t.throws(() => asThirdParty(plugin, 'path:oven'), { instanceOf: PluginError });
    t.true(
      error?.message.startsWith(
        `the plugin oven (path:oven) cannot be used: "${key}" is not a part of a plugin; ${meant}`,
      ),
      error?.message,
    );
  }
  t.is(asThirdParty(definePlugin({ ...part, hooks: [], config: {} }), 'path:oven').name, 'oven');
});

test('a part of another kind than it must be is named with what it must be', (t) => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ api: undefined }, /its `api` must be the number of the kernel's contract .*`api: 1`$/],
    [{ routes: [] }, /its `routes` must be a function that returns a list: `routes: \(\) => \[…\]`$/],
    [{ taps: [] }, /its `taps` must be a function that returns a list/],
    [{ start: true }, /its `start` must be a function$/],
    [{ settings: () => ({}) }, /its `settings` must be an object$/],
    [{ settings: { 'oven.url': text() } }, /`oven\.url` in its `settings` must be made with setting\(/],
    [{ uses: ['clients'] }, /`0` in its `uses` must be a token, such as Clients of /],
    [{ uses: { clients: undefined } }, /`clients` in its `uses` must be a token/],
    [{ services: { oven: class {} } }, /`oven` in its `services` must be made with singleton\(Class\)$/],
    [{ hooks: [tap(describeInbounds, (rows) => rows)] }, /what listens to hooks is called `taps`$/],
    [{ hooks: () => [] }, /what listens to hooks is called `taps`$/],
    [{ migrations: [{ name: '0001-a', up: 'CREATE' }] }, /its `migrations` must be a list of \{ name: /],
    [{ migrations: () => [] }, /its `migrations` must be a list of \{ name: /],
    [
      { migrations: [{ name: '0001-a', up: () => 'CREATE' }] },
      /migration 0001-a must return a list of statements/,
    ],
  ];
  for (const [parts, says] of wrong) {
    const plugin = definePlugin({ ...part, ...(parts as typeof part) });
    const error = t.throws(() => asThirdParty(plugin, 'path:oven'), { instanceOf: PluginError });
    t.regex(error?.message ?? '', /^the plugin oven \(path:oven\) cannot be (?:used|read): /);
    t.regex(error?.message.replace('; update it, or leave it out', '') ?? '', says);
  }
});

test('taps under their old name, and hooks that nobody declares, leave the plugin out with a sentence', async (t) => {
  const folder = await folderOf(t);
  const plugins = [
    [
      'old',
      source('old', 'hooks: () => []'),
      /its `hooks` must list the hooks that it owns; what listens to hooks is called `taps`/,
    ],
    [
      'worded',
      source('worded', "taps: () => [tap('kernel/kernelReady', () => undefined)]", 'tap'),
      /plugin worded taps something that is not a hook; import hooks from their owner's contract/,
    ],
    [
      'deaf',
      source('deaf', "taps: () => [tap(event('kernel/kernelReadi'), () => undefined)]", 'tap, event'),
      /deaf taps the event kernel\/kernelReadi, which kernel does not declare; did you mean kernel\/kernelReady/,
    ],
    [
      'greedy',
      source('greedy', "hooks: [event('kernel/kernelReady')]", 'event'),
      /plugin greedy declares the hook kernel\/kernelReady; its own are called greedy\/…/,
    ],
    [
      'hasty',
      source('hasty', "start: ({ hooks }) => hooks.emit(event('hasty/done'), 1)", 'event'),
      /the hook hasty\/done is called but not declared; add it to `hooks` of hasty's definePlugin/,
    ],
    [
      'early',
      source('early', "taps: () => [tap(event('nobody/went'), () => undefined)]", 'tap, event'),
      /^$/,
    ],
  ] as const;
  const references = await Promise.all(plugins.map(([name, code]) => thirdParty(folder, name, code)));
  await using panel = await bootWith(
    folder,
    Object.fromEntries(references.map((reference) => [reference, true])),
  );
  await panel.kernel.started;
  for (const [name, , pattern] of plugins) {
    const found = panel.kernel
      .plugins()
      .find((plugin) => plugin.name === name || plugin.name.includes(`/${name}`));
    t.regex(found?.reason ?? 'not there', pattern, name);
    t.is(found?.state, name === 'early' ? 'running' : 'failed', name);
  }
});

test('a plugin fills in what the panel leaves blank of inbounds in a reply', async (t) => {
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [
      definePlugin({
        ...part,
        taps: () => [
          tap(describeInbounds, (rows) =>
            rows.map((row) => ({ ...row, nodeId: 7, originNodeGuid: 'far', fallbackParent: { id: 1 } })),
          ),
        ],
      }),
    ],
  });
  const id = await panel.addInbound();
  t.like(await panel.get(`/panel/api/inbounds/get/${id}`), {
    nodeId: 7,
    originNodeGuid: 'far',
    fallbackParent: { id: 1 },
  });
  t.deepEqual(panel.faults, []);
});

test('what looks like nothing gets no proposal', (t) => {
  t.is(didYouMean('qqqqq', ['taps', 'routes']), '');
  t.is(didYouMean('rotues', ['taps', 'routes']), '; did you mean routes?');
  t.is(didYouMean('qqqqq', ['taps'], '; there are taps'), '; there are taps');
});
