import {
  command,
  definePlugin,
  contribute,
  hostOfHeader,
  Jobs,
  type JobsApi,
  Listeners,
  type ListenersApi,
  mapOf,
  nullable,
  openObject,
  payload,
  provide,
  route,
  withMessage,
  Sessions,
  type SessionsApi,
  SettingsSource,
  type SettingValues,
  singleton,
  tap,
  text,
  urlPath,
  variable,
  optional,
} from '../../kernel/index.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { AllowedHosts } from './allowed-hosts.js';
import {
  afterSettingsSave,
  beforeSettingsSave,
  composeDefaultSettings,
  composeSettingsReply,
  duringSettingsSave,
  PanelIdentity as Identity,
  settingChanges,
  SettingGroups,
  Settings,
} from './contract.js';
import { Definitions } from './definitions.js';
import { describeSettings } from './describe.js';
import { errors } from './errors.js';
import { hostList } from './host-list.js';
import { PanelIdentity } from './identity.js';
import { panelSettings } from './panel-settings.js';
import { SettingsService } from './service.js';
import { SettingsStore } from './store.js';
import { migrations, sealedSettings, tables } from './tables.js';
import { SettingsValues } from './values.js';

const MINUTE_MS = 60_000;

/** Applies the panel's settings to the kernel. */
function apply(
  { webBasePath, sessionMaxAge, sessionMaxLifetime, timeLocation }: SettingValues<typeof panelSettings>,
  kernel: { readonly listeners: ListenersApi; readonly sessions: SessionsApi; readonly jobs: JobsApi },
): void {
  kernel.listeners.panel.mountAt(webBasePath);
  kernel.sessions.setLifetime(sessionMaxAge * MINUTE_MS, sessionMaxLifetime * MINUTE_MS);
  kernel.jobs.useZone(timeLocation === 'Local' || timeLocation === '' ? undefined : timeLocation);
}

export default definePlugin({
  name: 'settings',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Keeps the settings of all plugins, serves them and changes them while the panel runs.',
  uses: { listeners: Listeners, sessions: Sessions, jobs: Jobs, secrets: Secrets },
  hooks: [
    settingChanges,
    beforeSettingsSave,
    duringSettingsSave,
    afterSettingsSave,
    composeSettingsReply,
    composeDefaultSettings,
  ],
  config: {
    basePath: variable(
      'WEIR_BASE_PATH',
      optional(urlPath()),
      'path below which the panel is served; holds the setting webBasePath',
    ),
    allowedHosts: variable(
      'WEIR_ALLOWED_HOSTS',
      optional(hostList()),
      'host names and addresses under which the panel answers, comma-separated; holds the setting allowedHosts',
    ),
  },
  tables,
  migrations,
  services: {
    definitions: singleton(Definitions),
    values: singleton(SettingsValues),
    store: singleton(SettingsStore),
    service: singleton(SettingsService),
    allowedHosts: singleton(AllowedHosts),
    identity: singleton(PanelIdentity),
  },
  provides: ({ store, identity }) => [
    provide(Settings, store),
    provide(SettingsSource, store),
    provide(Identity, identity),
  ],
  contributes: ({ config: { basePath, allowedHosts }, configSource }) => [
    contribute(SealedColumns, sealedSettings),
    contribute(SettingGroups, {
      group: panelSettings,
      pinned: {
        webBasePath:
          configSource.basePath === 'environment'
            ? { value: basePath, variable: 'WEIR_BASE_PATH' }
            : undefined,
        allowedHosts:
          configSource.allowedHosts === 'environment'
            ? { value: allowedHosts, variable: 'WEIR_ALLOWED_HOSTS' }
            : undefined,
      },
      defaults: {
        webBasePath: configSource.basePath === 'file' ? basePath : undefined,
        allowedHosts: configSource.allowedHosts === 'file' ? allowedHosts : undefined,
      },
    }),
  ],
  taps: ({ store, allowedHosts, ...scope }) => [
    tap(beforeSettingsSave, (save) => allowedHosts.check(save), { strict: true }),
    tap(afterSettingsSave, () => {
      apply(store.read(panelSettings), scope);
      allowedHosts.apply();
    }),
  ],
  routes: ({ service, store }) => {
    const { all, update } = describeSettings(store);
    return [
      route({
        method: 'POST',
        path: '/panel/api/setting/all',
        name: 'settings.all',
        doc: 'All settings in force; secrets are blank and have a flag.',
        reply: payload(all),
        handle: () => service.all(),
      }),
      route({
        method: 'POST',
        path: '/panel/api/setting/update',
        name: 'settings.update',
        doc: 'Changes the settings that are sent and leaves the others as they are.',
        body: update,
        reply: payload(nullable(openObject())),
        errors: [errors.PINNED, errors.OWN_HOST],
        handle: async ({ body, who, ip, host, headers }) => {
          const told = await service.update(body, {
            ...who,
            ip,
            hosts: [host, hostOfHeader(headers.host ?? '')],
          });
          return withMessage('settings saved', told);
        },
      }),
      route({
        method: 'POST',
        path: '/panel/api/setting/defaultSettings',
        name: 'settings.defaultSettings',
        doc: 'What a page needs to know before it shows anything.',
        reply: payload(openObject()),
        handle: ({ host }) => service.defaultSettings(host),
      }),
      route({
        method: 'POST',
        path: '/panel/api/setting/factoryDefaults',
        name: 'settings.factoryDefaults',
        doc: 'What a fresh panel has, each value as text; secrets are left out.',
        reply: payload(mapOf(text())),
        handle: () => service.factoryDefaults(),
      }),
    ];
  },
  commands: ({ allowedHosts }) => [
    command({
      name: 'hosts reset',
      about: 'Empties the setting allowedHosts: the panel answers under every host again.',
      example: 'weir hosts reset',
      run: async ({ who, say }) => {
        await allowedHosts.reset(who);
        say('The panel answers under every host.');
      },
    }),
  ],
  start: async ({ values, store, allowedHosts, identity, ...scope }) => {
    await identity.start();
    await values.start();
    apply(store.read(panelSettings), scope);
    allowedHosts.apply();
  },
});
