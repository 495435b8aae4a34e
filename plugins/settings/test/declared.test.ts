// Settings that plugins declare in definePlugin: read, changed and heard of without the plugin that keeps them.
import test from 'ava';
import {
  bool,
  contribute,
  type Database,
  definePlugin,
  int,
  type LiveSettings,
  type Plugin,
  setting,
  singleton,
  text,
  token,
} from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { SettingGroups } from '../contract.js';

const group = {
  'a-mill.open': setting(bool(), true, 'whether it grinds'),
  'a-mill.stones': setting(int().min(1).max(9), 2, 'how many'),
  'a-mill.key': setting(text(), '', 'opens it', { secret: true }),
} as const;
type Mill = LiveSettings<typeof group>;
const part = { version: '1.0.0', api: 1, about: 'For a test.' } as const;
const UPDATE = '/panel/api/setting/update';
const crash = () => {
  throw new Error('a stone broke');
};

class Miller {
  readonly stones: () => number;
  constructor({ settings }: { settings: Mill }) {
    this.stones = () => settings.read()['a-mill.stones'];
  }
}

interface Seen {
  settings?: Mill;
  db?: Database;
  miller?: Miller;
  readonly heard: number[];
}
// The name comes before those of all built-in plugins: only what it declares puts it behind `settings`.
const mill = (seen: Seen, whenChanged: () => void = () => undefined) =>
  definePlugin({
    ...part,
    name: 'a-mill',
    settings: group,
    services: { miller: singleton(Miller) },
    taps: ({ settings }) => [
      settings.changed((values) => {
        seen.heard.push(values['a-mill.stones']);
        whenChanged();
      }),
    ],
    start: ({ settings, db, miller }) => {
      settings.read()['a-mill.open'] satisfies boolean;
      Object.assign(seen, { settings, db, miller });
    },
  });
const boot = (...outside: readonly Plugin[]) =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], outside });

test('declared settings are live, served with all others, and their plugin is notified of changes', async (t) => {
  const seen: Seen = { heard: [] };
  await using panel = await boot(mill(seen));
  const { settings, db, miller } = seen as Required<Seen>;
  const first = settings.read();
  t.deepEqual(first, { 'a-mill.open': true, 'a-mill.stones': 2, 'a-mill.key': '' });
  t.true(Object.isFrozen(first));
  await panel.get(UPDATE, { body: { 'a-mill.stones': 5, 'a-mill.key': 'k' } });
  t.deepEqual([settings.read()['a-mill.stones'], miller.stones(), first['a-mill.stones']], [5, 5, 2]);
  t.deepEqual(seen.heard, [5]);
  await panel.get(UPDATE, { body: { pageSize: 7 } });
  t.deepEqual(seen.heard, [5], "another plugin's settings are not its own");
  await db.write((tx) => settings.change(tx, { 'a-mill.stones': 9 }, { kind: 'plugin', name: 'a-mill' }));
  t.deepEqual([miller.stones(), seen.heard], [9, [5, 9]]);
  await t.throwsAsync(
    db.write((tx) => settings.change(tx, { 'a-mill.stones': 10 }, { kind: 'plugin', name: 'a-mill' })),
    { message: /must be less than or equal to 9/ },
  );
  const all = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
  t.deepEqual([all['a-mill.stones'], all['a-mill.key'], all['hasA-mill.key']], [9, '', true]);
});

test('a plugin that fails when it is notified of a change affects no other', async (t) => {
  const seen: Seen = { heard: [] };
  await using panel = await boot(mill(seen, crash));
  await panel.get(UPDATE, { body: { 'a-mill.stones': 3 } });
  t.is(seen.settings?.read()['a-mill.stones'], 3);
  t.regex(panel.faults.join(), /a stone broke/);
});

test('a setting that is declared in both ways is taken once', async (t) => {
  const twice = definePlugin({
    ...part,
    name: 'a-mill',
    settings: group,
    contributes: () => [contribute(SettingGroups, { group: { 'a-mill.stones': setting(int(), 1, 'x') } })],
  });
  await using panel = await boot(twice);
  t.regex(panel.faults.join(), /the setting a-mill.stones already exists/);
  t.is(
    (await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' }))['a-mill.stones'],
    2,
  );
});

test('its own settings and something that it uses cannot have one name', (t) => {
  t.throws(
    () => definePlugin({ ...part, name: 'a-mill', settings: group, uses: { settings: token('x', 'Y') } }),
    { message: 'plugin a-mill has "settings" in its uses; that name is reserved for its own settings' },
  );
});

test('settings are not read before the start', async (t) => {
  const hasty = definePlugin({
    ...part,
    name: 'a-mill',
    settings: group,
    contributes: ({ settings }) => {
      settings.read();
      return [];
    },
  });
  await t.throwsAsync(boot(hasty), { message: /a-mill.*read before the start of their plugin/ });
});
