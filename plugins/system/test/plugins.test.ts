import { readdir } from 'node:fs/promises';
import test from 'ava';
import { definePlugin, type PluginState } from '../../../kernel/index.js';
import { pluginList } from '../plugins.js';
import { FakeEngine, TestPanel, weirCommand } from '../../../test/harness/index.js';

test('weir plugins and the API list what is on, what failed, and why', async (t) => {
  const broken = definePlugin({
    name: 'broken',
    version: '1.2.3',
    api: 1,
    about: 'Cannot start.',
    start: () => Promise.reject(new Error('the moon is not full')),
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [broken],
    partial: true,
  });
  const listed =
    await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins');
  t.regex(listed.find(({ name }) => name === 'broken')?.reason ?? '', /the moon is not full/);
  t.is(listed.find(({ name }) => name === 'clients')?.state, 'running');
  t.true((await readdir(panel.dataDirectory)).includes('panel.sock'));
  const { code, said } = await weirCommand(panel.dataDirectory, ['plugins']);
  t.is(code, 0);
  t.regex(said, /^broken +1\.2\.3 +failed +.*the moon is not full/m);
  t.regex(said, /^clients +\S+ +running/m);
  t.is(said.trim().split('\n').length, listed.length);
});

test('a panel that is part of another program leaves its plugins to that', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { status, body } = await panel.call('/panel/api/system/plugins/keygen', { body: { enable: false } });
  t.deepEqual([status, body.code], [503, 'SYSTEM_NO_PROGRAM']);
  t.is((await panel.call('/panel/api/setting/restartPanel', { method: 'POST' })).status, 503);
});

test('a switch that is under way, and one that failed, stand in the list', async (t) => {
  const running = (name: string) => ({
    name,
    version: '1.0.0',
    about: '',
    outside: false,
    state: 'running' as const,
    reason: '',
  });
  const plugins = {
    list: () => ['a', 'b', 'c'].map(running),
    hooks: () => [],
    taps: () => [],
    leaveOut: () => undefined,
  };
  const switches = [
    { name: 'a', enable: false, problem: '' },
    { name: 'b', enable: false, problem: 'it could not be' },
    { name: 'd', enable: true, problem: 'it hung' },
    { name: 'e', enable: true, problem: '' },
  ];
  const program = {
    startAnew: () => undefined,
    restartPanel: () => Promise.reject(new Error('not asked')),
    restoreDatabase: () => Promise.reject(new Error('not asked')),
    switchPlugin: () => Promise.reject(new Error('not asked')),
    switches: () => switches,
    listed: async (states: readonly PluginState[]) => states.map((state) => ({ ...state, waiting: '' })),
  };
  t.deepEqual(
    (await pluginList(plugins, program)).map(({ name, state, reason }) => [name, state, reason]),
    [
      ['a', 'switching', 'the panel restarts to disable it'],
      ['b', 'running', 'it could not be'],
      ['c', 'running', ''],
      ['d', 'failed', 'it hung'],
      ['e', 'switching', 'the panel restarts to enable it'],
    ],
  );
  t.deepEqual(
    await pluginList(plugins, undefined),
    plugins.list().map((plugin) => ({ ...plugin, waiting: '' })),
  );
});
