import {
  afterKernelOpen,
  command,
  definePlugin,
  contribute,
  hostOfHeader,
  Jobs,
  type JobsApi,
  Listeners,
  maybe,
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
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, keptUpdate, undoer, Undoers } from '../audit/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { settingsPart } from './archive-part.js';
import { AllowedHosts } from './allowed-hosts.js';
import { CallersOwn } from './callers-own.js';
import {
  afterSettingsSave,
  beforeSettingsSave,
  composeDefaultSettings,
  composeSettingsReply,
  DeclaredSettings,
  duringSettingsSave,
  ListenerPlaces,
  ListenerPorts,
  PanelListener,
  PanelHosts,
  PanelIdentity as Identity,
  type SettingChange,
  settingChanges,
  SettingGroups,
  Settings,
  SettingsEdits,
  SettingsTrial,
  UpdateKeys,
} from './contract.js';
import { Definitions } from './definitions.js';
import { declaredSettings, describeSettings } from './describe.js';
import { errors } from './errors.js';
import { hostList } from './host-list.js';
import { PanelIdentity } from './identity.js';
import { ListenerPortSettings } from './listener-port.js';
import { ALL_ADDRESSES, ofPanel, warnOfPlainHttp } from './panel-listener.js';
import { panelSettings, timeZoneOf } from './panel-settings.js';
import { proxiesIn } from './proxy-list.js';
import { settings } from './recorded.js';
import { SettingsService } from './service.js';
import { SettingsStore } from './store.js';
import { migrations, sealedSettings, tables } from './tables.js';
import { SettingsTransfer } from './transfer.js';
import { transferRoutes } from './transfer-routes.js';
import { SettingsValues } from './values.js';

const MINUTE_MS = 60_000;

/** Applies the panel's settings to the kernel. */
function apply(
  {
    webBasePath,
    trustedProxyCIDRs,
    sessionMaxAge,
    sessionMaxLifetime,
    timeLocation,
  }: SettingValues<typeof panelSettings>,
  kernel: { readonly listeners: ListenersApi; readonly sessions: SessionsApi; readonly jobs: JobsApi },
): void {
  kernel.listeners.panel.mountAt(webBasePath);
  kernel.listeners.proxies.set(proxiesIn(trustedProxyCIDRs));
  kernel.sessions.setLifetime(sessionMaxAge * MINUTE_MS, sessionMaxLifetime * MINUTE_MS);
  kernel.jobs.useZone(timeZoneOf(timeLocation));
}

export default definePlugin({
  name: 'settings',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Keeps the settings of all plugins, serves them and changes them while the panel runs.',
  uses: {
    listeners: Listeners,
    sessions: Sessions,
    jobs: Jobs,
    secrets: Secrets,
    panelListener: maybe(PanelListener),
  },
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
    own: singleton(CallersOwn),
    service: singleton(SettingsService),
    allowedHosts: singleton(AllowedHosts),
    listenerPorts: singleton(ListenerPortSettings),
    identity: singleton(PanelIdentity),
    transfer: singleton(SettingsTransfer),
  },
  provides: ({ store, identity, listenerPorts, service }) => [
    provide(Settings, store),
    provide(SettingsEdits, {
      known: (name) => store.known(name),
      plan: (values, who) => service.plan(values, who),
      update: async (values, who) => (await service.update(values, who)).changed,
    }),
    provide(SettingsTrial, {
      known: (name) => store.named(name),
      differing: (values) => service.differing(values),
      readingAs: (values, work) => store.readingAs(values, work),
    }),
    provide(DeclaredSettings, { list: () => declaredSettings(store) }),
    provide(SettingsSource, store),
    provide(Identity, identity),
    provide(ListenerPlaces, listenerPorts),
  ],
  contributes: ({
    config: { basePath, allowedHosts },
    configSource,
    panelListener,
    transfer,
    store,
    service,
  }) => [
    contribute(ArchiveParts, settingsPart(transfer)),
    contribute(AuditedHooks, settings),
    contribute(
      Undoers,
      undoer<SettingChange>({
        area: settings.area,
        keep: (changes) =>
          changes.some(({ secret }) => secret)
            ? 'a secret was changed, whose value before is not known'
            : changes.map(({ name, before, after }) =>
                keptUpdate({ id: name, name }, { value: before }, { value: after }),
              ),
        now: ({ name }) => {
          const known = store.known(name);
          return known && { value: known.value };
        },
        undo: async (changes, { host, ...who }) => {
          const values = Object.fromEntries(changes.map(({ name, before }) => [name, before['value']]));
          const { changed } = await service.update(values, { ...who, hosts: [host] });
          return `${changed.join(', ')} set back`;
        },
      }),
    ),
    contribute(SealedColumns, sealedSettings),
    contribute(ListenerPorts, {
      listener: 'panel',
      setting: 'webPort' satisfies keyof typeof panelSettings,
      addressSetting: 'webListen' satisfies keyof typeof panelSettings,
    }),
    contribute(PanelHosts, { settings: ['webListen' satisfies keyof typeof panelSettings] }),
    contribute(SettingGroups, {
      group: panelSettings,
      pinned: {
        ...ofPanel(panelListener).pinned,
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
        ...ofPanel(panelListener).defaults,
        webBasePath: configSource.basePath === 'file' ? basePath : undefined,
        allowedHosts: configSource.allowedHosts === 'file' ? allowedHosts : undefined,
      },
    }),
  ],
  taps: ({ store, allowedHosts, listenerPorts, ...scope }) => [
    tap(beforeSettingsSave, (save) => allowedHosts.check(save), { strict: true }),
    tap(beforeSettingsSave, (save) => listenerPorts.check(save), { strict: true }),
    // All know by now where they listen.
    tap(afterKernelOpen, () => allowedHosts.apply()),
    tap(afterSettingsSave, () => {
      apply(store.read(panelSettings), scope);
      allowedHosts.apply();
    }),
  ],
  routes: ({ service, store, transfer, listenerPorts, contributions }) => {
    const { all, update } = describeSettings(
      store,
      contributions(UpdateKeys).map(({ value }) => value),
    );
    return [
      ...transferRoutes(transfer),
      route({
        method: 'POST',
        path: '/panel/api/setting/all',
        name: 'settings.all',
        doc: 'All settings in force; secrets are blank and have a flag. Of a setting that each admin has of his own, it is the value of the caller.',
        reply: payload(all),
        handle: ({ who }) => service.all(who),
      }),
      service.versions.guarded(
        route({
          method: 'POST',
          path: '/panel/api/setting/update',
          name: 'settings.update',
          doc: 'Changes the settings that are sent and leaves the others as they are.',
          body: update,
          reply: payload(nullable(openObject())),
          errors: [errors.PINNED, errors.OWN_HOST, errors.PORT_TAKEN, errors.ADDRESS],
          handle: async ({ body, who, ip, host, headers }) => {
            const { changed, reply } = await service.update(body, {
              ...who,
              ip,
              hosts: [host, hostOfHeader(headers.host ?? '')],
            });
            const later = listenerPorts.waiting(
              Object.fromEntries(changed.map((name) => [name, store.known(name)?.value])),
            );
            const said = changed.length === 0 ? 'nothing has changed' : 'settings saved';
            return withMessage(
              later.length === 0 ? said : `${said}; ${later.join(', ')}: from the next start of the panel on`,
              reply,
            );
          },
        }),
        (_, { who }) => service.all(who),
      ),
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
    const { webPort, webListen } = store.read(panelSettings);
    scope.listeners.setPort('panel', webPort, webListen || ALL_ADDRESSES);
    warnOfPlainHttp(scope, webListen || ALL_ADDRESSES);
    await scope.listenerPorts.warnOf(webListen);
    apply(store.read(panelSettings), scope);
    allowedHosts.apply();
  },
});
