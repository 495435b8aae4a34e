import {
  afterPluginStart,
  composeStartupSummary,
  definePlugin,
  contribute,
  Listeners,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { Clients } from '../clients/contract.js';
import { afterInboundSave, Inbounds } from '../inbounds/contract.js';
import {
  afterSettingsSave,
  beforeSettingsSave,
  composeDefaultSettings,
  ListenerPorts,
  PanelHosts,
  SettingGroups,
  Settings,
} from '../settings/contract.js';
import { reachableHost } from './address.js';
import { Compiled } from './compiled.js';
import {
  beforeSubscription,
  composeSubscription,
  inboundEntry,
  Subscription,
  subscriptionHeaders,
  WaySources,
} from './contract.js';
import { FetchHandler } from './fetch-handler.js';
import { refuseSharedPath } from './format-paths.js';
import { Gates } from './gates.js';
import { RenderedEntries } from './rendered-entries.js';
import { Renderer } from './renderer.js';
import { listenerSettings, subscriptionSettings, subscriptionVariables } from './settings.js';

export default definePlugin({
  name: 'subscription',
  version: '0.1.0',
  api: 1,
  about: 'Serves subscriptions to client programs, on a listener of its own.',
  uses: { clients: Clients, inbounds: Inbounds, allSettings: Settings, listeners: Listeners },
  settings: subscriptionSettings,
  hooks: [inboundEntry, composeSubscription, beforeSubscription, subscriptionHeaders],
  config: subscriptionVariables,
  services: {
    compiled: singleton(Compiled),
    rendered: singleton(RenderedEntries),
    renderer: singleton(Renderer),
    gates: singleton(Gates),
    fetchHandler: singleton(FetchHandler),
  },
  provides: ({ renderer }) => [provide(Subscription, renderer)],
  contributes: ({ config: { publicHost, port }, configSource }) => [
    contribute(SettingGroups, {
      group: listenerSettings,
      pinned: {
        subPort: configSource.port === 'environment' ? { value: port, variable: 'WEIR_SUB_PORT' } : undefined,
      },
      defaults: { subPort: configSource.port === 'file' ? port : undefined },
    }),
    contribute(ListenerPorts, {
      listener: 'subscription',
      setting: 'subPort' satisfies keyof typeof listenerSettings,
    }),
    contribute(PanelHosts, {
      hosts: publicHost === undefined ? [] : [publicHost],
      settings: ['subDomain' satisfies keyof typeof subscriptionSettings],
    }),
  ],
  taps: ({ compiled, listeners, config, allSettings, settings }) => [
    tap(composeDefaultSettings, (add) => {
      const { subEnable } = allSettings.read(listenerSettings);
      add({ subEnable, subURI: settings.read().subURI });
    }),
    tap(afterInboundSave, async ({ changes }) => {
      for (const { before, after } of changes) {
        if (after) await compiled.inbound(after);
        else if (before) compiled.drop(before.id);
      }
    }),
    tap(afterPluginStart, async ({ plugin, hooks }) => {
      if (
        [composeSubscription.id, inboundEntry.id].some((id) => hooks.includes(id)) ||
        compiled.hasWordsOf(plugin)
      )
        await compiled.inbounds();
    }),
    tap(beforeSettingsSave, ({ changes, values }) => refuseSharedPath(compiled.formats, changes, values), {
      strict: true,
    }),
    tap(afterSettingsSave, () => {
      const paths = () => [...compiled.prefixes].flatMap(([prefix, { name }]) => [prefix, name]).join();
      const before = paths();
      compiled.settingsChanged();
      if (paths() !== before) listeners.remount();
    }),
    tap(composeStartupSummary, (add) => {
      const [prefix] = compiled.prefixes.keys();
      add({ subUrl: `http://${reachableHost(config)}:${listeners.port('subscription')}${prefix ?? '/'}` });
    }),
  ],
  routes: ({ fetchHandler }) => fetchHandler.routes(),
  start: async ({ compiled, fetchHandler, listeners, config, allSettings, contributions }) => {
    for (const { value, fault } of contributions(WaySources)) {
      try {
        value.start(compiled.wayOutput);
      } catch (error) {
        fault('start of a source of ways', error);
      }
    }
    await compiled.all();
    listeners.declare(
      'subscription',
      { host: config.host, port: allSettings.read(listenerSettings).subPort, portVariable: 'WEIR_SUB_PORT' },
      fetchHandler.fast,
    );
  },
});
