import {
  definePlugin,
  extend,
  Listeners,
  mapOf,
  nullable,
  openObject,
  payload,
  provide,
  route,
  said,
  Sessions,
  singleton,
  tap,
  text,
  urlPath,
  variable,
  optional,
} from '../../kernel/index.js';
import { afterSettingsSave, SettingGroups, Settings } from './contract.js';
import { describeSettings } from './describe.js';
import { errors } from './errors.js';
import { panelSettings } from './panel-settings.js';
import { SettingsService } from './service.js';
import { afterValuesWritten, SettingsStore } from './store.js';
import { migrations, tables } from './tables.js';

const MINUTE_MS = 60_000;

export default definePlugin({
  name: 'settings',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Keeps the settings of all plugins, serves them and changes them while the panel runs.',
  uses: { listeners: Listeners, sessions: Sessions },
  config: {
    basePath: variable(
      'WEIR_BASE_PATH',
      optional(urlPath()),
      'path below which the panel is served; holds the setting webBasePath',
    ),
  },
  tables,
  migrations,
  services: { store: singleton(SettingsStore), service: singleton(SettingsService) },
  provides: ({ store }) => [provide(Settings, store)],
  extends: ({ config: { basePath }, configSource }) => [
    extend(SettingGroups, {
      group: panelSettings,
      pinned: {
        webBasePath:
          configSource.basePath === 'environment'
            ? { value: basePath, variable: 'WEIR_BASE_PATH' }
            : undefined,
      },
      defaults: { webBasePath: configSource.basePath === 'file' ? basePath : undefined },
    }),
  ],
  hooks: ({ store, listeners, sessions }) => [
    tap(afterValuesWritten, (changes) => store.apply(changes)),
    tap(afterSettingsSave, () => {
      const { webBasePath, sessionMaxAge, sessionMaxLifetime } = store.read(panelSettings);
      listeners.panel.mountAt(webBasePath);
      sessions.setLifetime(sessionMaxAge * MINUTE_MS, sessionMaxLifetime * MINUTE_MS);
    }),
  ],
  routes: ({ service, store }) => {
    const { all, update } = describeSettings(store);
    return [
      route({
        method: 'POST',
        path: '/panel/api/setting/all',
        doc: 'All settings in force; secrets are blank and have a flag.',
        reply: payload(all),
        handle: () => service.all(),
      }),
      route({
        method: 'POST',
        path: '/panel/api/setting/update',
        doc: 'Changes the settings that are sent and leaves the others as they are.',
        body: update,
        reply: payload(nullable(openObject())),
        errors: [errors.PINNED],
        handle: async ({ body, who, ip }) => {
          const told = await service.update(body, {
            name: who?.name ?? '',
            ip,
            ...(who?.session !== undefined && { session: who.session }),
          });
          return said('settings saved', told);
        },
      }),
      route({
        method: 'POST',
        path: '/panel/api/setting/defaultSettings',
        doc: 'What a page needs to know before it shows anything.',
        reply: payload(openObject()),
        handle: ({ host }) => service.defaultSettings(host),
      }),
      route({
        method: 'POST',
        path: '/panel/api/setting/factoryDefaults',
        doc: 'What a fresh panel has, each value as text; secrets are left out.',
        reply: payload(mapOf(text())),
        handle: () => service.factoryDefaults(),
      }),
    ];
  },
  start: async ({ store, listeners, sessions }) => {
    await store.load();
    const { webBasePath, sessionMaxAge, sessionMaxLifetime } = store.read(panelSettings);
    listeners.panel.mountAt(webBasePath);
    sessions.setLifetime(sessionMaxAge * MINUTE_MS, sessionMaxLifetime * MINUTE_MS);
  },
});
