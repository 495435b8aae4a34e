// Runs on every database in test:full.
// Settings over the API: precedence, what is pinned, partial updates, secrets, and what other plugins can do.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import {
  bool,
  type Database,
  definePlugin,
  contribute,
  int,
  type Plugin,
  tap,
  text,
  variable,
  withDefault,
  setting,
} from '../../../kernel/index.js';
import { bootPanel } from '../../../panel/boot.js';
import { findPlugins } from '../../../panel/find-plugins.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';
import {
  afterSettingsSave,
  beforeSettingsSave,
  composeDefaultSettings,
  settingChanges,
  SettingGroups,
  Settings,
  type SettingsApi,
  type SettingsCaller,
} from '../contract.js';
import { panelSettings } from '../panel-settings.js';

const ALL = '/panel/api/setting/all';
const UPDATE = '/panel/api/setting/update';
const SHOP = { kind: 'plugin', name: 'shop' } as const;
type Values = Readonly<Record<string, unknown>> & { readonly pinned: Record<string, string> };

const shopSettings = {
  shopKey: setting(text().max(20), '', 'a secret', { secret: true }),
  shopOpen: setting(bool(), true, 'whether it is open'),
  shopSeats: setting(int().min(1).max(9), 4, 'how many sit'),
} as const;

interface Shop {
  readonly plugin: Plugin;
  settings?: SettingsApi;
  db?: Database;
  readonly saved: string[][];
  readonly asked: { sent: unknown; who: SettingsCaller; values: unknown }[];
}

/** A plugin with settings that two variables may pin; closing the shop takes away its key. */
function shop(): Shop {
  const seen: Shop = {
    saved: [],
    asked: [],
    plugin: definePlugin({
      name: 'shop',
      version: '1.0.0',
      api: 1,
      about: 'For a test.',
      uses: { settings: Settings },
      config: {
        seats: variable('WEIR_TEST_SEATS', withDefault(int(), 0), 'seats'),
        key: variable('WEIR_TEST_KEY', withDefault(text(), ''), 'key'),
      },
      contributes: ({ config, configSource }) => [
        contribute(SettingGroups, {
          group: shopSettings,
          pinned: {
            shopSeats:
              configSource.seats === 'environment'
                ? { value: config.seats, variable: 'WEIR_TEST_SEATS' }
                : undefined,
            shopKey:
              configSource.key === 'environment'
                ? { value: config.key, variable: 'WEIR_TEST_KEY' }
                : undefined,
          },
        }),
      ],
      taps: () => [
        tap(settingChanges, (changes) =>
          changes['shopOpen'] === false ? { ...changes, shopKey: '' } : changes,
        ),
        tap(beforeSettingsSave, ({ sent, who, values }) => void seen.asked.push({ sent, who, values })),
        tap(afterSettingsSave, ({ keys }) => void seen.saved.push([...keys].sort())),
        tap(composeDefaultSettings, (add, { host }) => add({ shopUrl: `https://${host}/shop` })),
      ],
      start: ({ settings, db }) => void Object.assign(seen, { settings, db }),
    }),
  };
  return seen;
}

const boot = async (env: Record<string, string> = {}) => {
  const seen = shop();
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, seen.plugin], env });
  return { panel, seen };
};
const all = (panel: TestPanel) => panel.get<Values>(ALL, { method: 'POST' });

test('an update changes what is sent, leaves the rest, and takes what all returned', async (t) => {
  const { panel, seen } = await boot();
  await using _ = panel;
  const before = await all(panel);
  await panel.get(UPDATE, { body: { shopSeats: 7 } });
  const after = await all(panel);
  t.deepEqual(after, { ...before, shopSeats: 7, version: after['version'] });
  t.not(after['version'], before['version']);
  t.deepEqual(seen.settings?.read(shopSettings), { shopKey: '', shopOpen: true, shopSeats: 7 });
  await panel.get(UPDATE, { body: await all(panel) });
  t.deepEqual(await all(panel), after);
  t.deepEqual(seen.saved, [['shopSeats']], 'sending what is there changes nothing');
});

test('an update with one mistake changes nothing and names every mistake', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  await refused(
    t,
    panel,
    UPDATE,
    { body: { shopSeats: 10, shopOpen: 'yes', timeLocation: 'UTC' } },
    { status: 400, code: 'KERNEL_INVALID', field: 'shopSeats', says: 'shopOpen' },
  );
});

test('never returns a secret: blank keeps it, its flag shows it, clear removes it', async (t) => {
  const { panel, seen } = await boot();
  await using _ = panel;
  await panel.get(UPDATE, { body: { shopKey: 'open sesame' } });
  t.like(await all(panel), { shopKey: '', hasShopKey: true });
  await panel.get(UPDATE, { body: { shopKey: '', shopSeats: 5 } });
  t.is(seen.settings?.read(shopSettings).shopKey, 'open sesame');
  for (const path of [ALL, '/panel/api/setting/defaultSettings', '/panel/api/setting/factoryDefaults'])
    t.false((await panel.call(path, { method: 'POST' })).text.includes('sesame'), path);
  t.false(panel.log.join('').includes('sesame'));
  await panel.get(UPDATE, { body: { clearShopKey: true } });
  t.like(await all(panel), { shopKey: '', hasShopKey: false });
});

test('the environment pins: all names the variable, another value is refused, the same is fine', async (t) => {
  const { panel } = await boot({ WEIR_TEST_SEATS: '6', WEIR_TEST_KEY: 'open sesame' });
  await using _ = panel;
  t.like(await all(panel), {
    shopSeats: 6,
    shopKey: '',
    hasShopKey: true,
    pinned: { webBasePath: 'WEIR_BASE_PATH', shopSeats: 'WEIR_TEST_SEATS', shopKey: 'WEIR_TEST_KEY' },
  });
  await refused(
    t,
    panel,
    UPDATE,
    { body: { shopSeats: 5, shopOpen: false } },
    { status: 409, code: 'SETTINGS_PINNED', field: 'shopSeats', says: 'WEIR_TEST_SEATS' },
  );
  await refused(
    t,
    panel,
    UPDATE,
    { body: { clearShopKey: true } },
    { status: 409, code: 'SETTINGS_PINNED', field: 'shopKey', says: 'WEIR_TEST_KEY' },
  );
  t.false((await panel.call(UPDATE, { body: { shopKey: 'other' } })).text.includes('sesame'));
  await panel.get(UPDATE, { body: { ...(await all(panel)), shopSeats: 6, timeLocation: 'UTC' } });
  t.like(await all(panel), { shopSeats: 6, timeLocation: 'UTC' });
});

test('what follows from a change is written with it, and guards see all of it', async (t) => {
  const { panel, seen } = await boot();
  await using _ = panel;
  await panel.get(UPDATE, { body: { shopKey: 'open sesame' } });
  await panel.get(UPDATE, { body: { shopOpen: false, word: 'please' } });
  t.like(await all(panel), { shopOpen: false, hasShopKey: false });
  t.deepEqual(seen.saved, [['shopKey'], ['shopKey', 'shopOpen']]);
  const { sent, who, values } = seen.asked.at(-1) ?? {};
  t.deepEqual(sent, { shopOpen: false, word: 'please' });
  t.like(who, { name: 'admin', kind: 'session', ip: '127.0.0.1' });
  t.like(values, { shopOpen: false, shopKey: '' });
});

test('a plugin changes settings in a write of its own, but not what is pinned, unknown or wrong', async (t) => {
  const { panel, seen } = await boot({ WEIR_TEST_SEATS: '6' });
  await using _ = panel;
  const { db, settings } = seen;
  if (!db || !settings) return t.fail('the plugin did not start');
  const change = (values: Partial<{ shopKey: string; shopOpen: boolean; shopSeats: number }>) =>
    db.write((tx) => settings.change(tx, shopSettings, values, SHOP));
  await change({ shopOpen: false, shopSeats: 6 });
  t.is((await all(panel))['shopOpen'], false);
  await t.throwsAsync(change({ shopSeats: 5 }), { message: /WEIR_TEST_SEATS/ });
  await t.throwsAsync(change({ shopKey: 'x'.repeat(21) }), { message: /shopKey/ });
  await t.throwsAsync(
    db.write((tx) => settings.change(tx, panelSettings, { shopOpen: true } as never, SHOP)),
    { message: /shopOpen is not a setting of this group/ },
  );
  await t.throwsAsync(
    db.write(async (tx) => {
      await settings.change(tx, shopSettings, { shopOpen: true }, SHOP);
      throw new Error('no, after all');
    }),
  );
  t.is(settings.read(shopSettings).shopOpen, false, 'a rollback leaves memory as it was');
});

test('what a fresh panel has, and what a page asks for', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  await panel.get(UPDATE, { body: { shopSeats: 7, pageSize: 50 } });
  const fresh = await panel.get<Record<string, string>>('/panel/api/setting/factoryDefaults', {
    method: 'POST',
  });
  t.like(fresh, { shopSeats: '4', shopOpen: 'true', pageSize: '25', timeLocation: 'Local' });
  t.is(fresh['webBasePath'], '<random>');
  t.false('shopKey' in fresh);
  const shown = Object.keys(await all(panel));
  const visible = shown.filter(
    (name) =>
      !['pinned', 'version'].includes(name) &&
      !/^has[A-Z]/.test(name) &&
      !shown.includes(`has${name[0]?.toUpperCase()}${name.slice(1)}`),
  );
  t.deepEqual(Object.keys(fresh).sort(), visible.sort(), 'every key that is no secret');
  t.like(await panel.get('/panel/api/setting/defaultSettings', { method: 'POST' }), {
    pageSize: 50,
    datepicker: 'gregorian',
    shopUrl: 'https://127.0.0.1/shop',
  });
});

const keeper = async (t: ExecutionContext) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const plugins = [...(await findPlugins(['secrets', 'settings', 'access'])), shop().plugin];
  /** The base path in force when this file says so. */
  return async (basePath?: string): Promise<string> => {
    const file = {
      path: 'weir.json',
      problems: [],
      panel: {},
      plugins: new Map([['settings', { on: true, config: basePath === undefined ? {} : { basePath } }]]),
    };
    const kernel = await bootPanel({
      plugins,
      env: {
        WEIR_DATA_DIR: dataDirectory,
        WEIR_PANEL_PORT: '0',
        WEIR_ADMIN_PASSWORD: 'correct horse battery',
      },
      file,
      write: () => undefined,
      selfChecks: true,
    });
    const path = kernel.listeners.panel.basePath;
    await kernel.stop('end of test');
    return path;
  };
};

test('retains a generated path, and a later config file takes precedence', async (t) => {
  const start = await keeper(t);
  const made = await start();
  t.regex(made, /^\/\w{12}\/$/);
  t.is(await start(), made);
  t.is(await start('/from-file/'), '/from-file/');
  t.is(await start(), made);
});

test('an update tells the after hook once, after memory is right', async (t) => {
  const seen: unknown[] = [];
  const witness = definePlugin({
    name: 'witness',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    uses: { settings: Settings },
    taps: (scope) => [
      tap(afterSettingsSave, () => void seen.push(scope.settings.read(panelSettings).timeLocation)),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, witness] });
  await panel.get(UPDATE, { body: { timeLocation: 'Europe/Berlin' } });
  t.deepEqual(seen, ['Europe/Berlin']);
});
