import {
  afterPluginStart,
  canonicalAddress,
  composeStartupSummary,
  definePlugin,
  contribute,
  everywhere,
  job,
  Listeners,
  maybe,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { Clients } from '../clients/contract.js';
import { RemoteTexts, RemoteTextSources } from '../remote-texts/contract.js';
import { afterInboundSave, Inbounds } from '../inbounds/contract.js';
import {
  afterSettingsSave,
  beforeSettingsSave,
  composeDefaultSettings,
  ListenerPorts,
  NextStartSettings,
  PanelHosts,
  SettingGroups,
  Settings,
  SettingsTrial,
} from '../settings/contract.js';
import { AgentChoices } from './agents/choices.js';
import { reachableHost } from './address.js';
import { ServedCertificates } from '../alarms/contract.js';
import { CertificateUsers, Challenges, refuseBadPair } from '../certificates/contract.js';
import { errors } from './errors.js';
import { CERTIFICATE_SETTINGS, OwnCertificate } from './certificate.js';
import { Chooser } from './choice.js';
import { OwnEntries } from './client-entries.js';
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
import { Info } from './info.js';
import { IssuedCertificate } from './issued-certificate.js';
import { Misses } from './misses.js';
import { previewRoutes } from './preview.js';
import { PreviewTrial } from './preview-trial.js';
import { urlRoutes } from './urls.js';
import { Pipelined } from './pipelined.js';
import { PublicUrls } from './public-urls.js';
import { RenderedEntries } from './rendered-entries.js';
import { Renderer } from './renderer.js';
import { LONGEST_ROUTING, routingOf } from './routing-text.js';
import { SlowFetch } from './slow-fetch.js';
import { listenerSettings, subscriptionSettings, subscriptionVariables } from './settings.js';

/** The value of the setting for a configured host; blank where it is a name, which is used then. */
const listenOf = (host: string): string => (host === '0.0.0.0' ? '' : (canonicalAddress(host) ?? ''));

export default definePlugin({
  name: 'subscription',
  version: '0.1.0',
  api: 1,
  about: 'Serves subscriptions to client programs, on a listener of its own.',
  uses: {
    clients: Clients,
    inbounds: Inbounds,
    allSettings: Settings,
    listeners: Listeners,
    remote: maybe(RemoteTexts),
    challenges: maybe(Challenges),
    trial: SettingsTrial,
  },
  settings: subscriptionSettings,
  hooks: [inboundEntry, composeSubscription, beforeSubscription, subscriptionHeaders],
  config: subscriptionVariables,
  services: {
    compiled: singleton(Compiled),
    own: singleton(OwnEntries),
    rendered: singleton(RenderedEntries),
    renderer: singleton(Renderer),
    certificate: singleton(OwnCertificate),
    issuedCertificate: singleton(IssuedCertificate),
    publicUrls: singleton(PublicUrls),
    gates: singleton(Gates),
    agentChoices: singleton(AgentChoices),
    chooser: singleton(Chooser),
    info: singleton(Info),
    misses: singleton(Misses),
    slowFetch: singleton(SlowFetch),
    fetchHandler: singleton(FetchHandler),
    pipelined: singleton(Pipelined),
    previewTrial: singleton(PreviewTrial),
  },
  provides: ({ renderer }) => [provide(Subscription, renderer)],
  contributes: ({
    config: { publicHost, host, port },
    configSource,
    settings,
    certificate,
    issuedCertificate,
  }) => [
    contribute(ServedCertificates, {
      name: 'subscription',
      validTo: () => (certificate.isOn ? certificate.validTo : ''),
    }),
    contribute(CertificateUsers, issuedCertificate),
    contribute(RemoteTextSources, {
      setting: 'subRoutingRules' satisfies keyof typeof subscriptionSettings,
      value: () => settings.read().subRoutingRules,
      maxBytes: LONGEST_ROUTING,
      check: (text) => void routingOf(text),
    }),
    contribute(SettingGroups, {
      group: listenerSettings,
      pinned: {
        subListen:
          configSource.host === 'environment'
            ? { value: listenOf(host), variable: 'WEIR_SUB_HOST' }
            : undefined,
        subPort: configSource.port === 'environment' ? { value: port, variable: 'WEIR_SUB_PORT' } : undefined,
      },
      defaults: {
        subListen: configSource.host === 'file' ? listenOf(host) : undefined,
        subPort: configSource.port === 'file' ? port : undefined,
      },
    }),
    contribute(ListenerPorts, {
      listener: 'subscription',
      setting: 'subPort' satisfies keyof typeof listenerSettings,
      addressSetting: 'subListen' satisfies keyof typeof listenerSettings,
    }),
    contribute(NextStartSettings, {
      settings: Object.values(CERTIFICATE_SETTINGS),
      waits: (path) => !certificate.isOn || path === '',
    }),
    contribute(PanelHosts, {
      hosts: publicHost === undefined ? [] : [publicHost],
      settings: ['subDomain' satisfies keyof typeof subscriptionSettings],
    }),
  ],
  taps: ({ compiled, listeners, config, allSettings, settings, certificate, misses }) => [
    tap(composeDefaultSettings, (add) => {
      const { subEnable } = allSettings.read(listenerSettings);
      add({ subEnable, subURI: settings.read().subURI });
    }),
    tap(afterInboundSave, ({ changes }) =>
      compiled.patiently(async () => {
        for (const { before, after } of changes) {
          if (after) await compiled.inbound(after);
          else if (before) compiled.drop(before.id);
        }
      }),
    ),
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
    tap(beforeSettingsSave, (save) => refuseBadPair(CERTIFICATE_SETTINGS, save, errors.CERTIFICATE), {
      strict: true,
    }),
    tap(afterSettingsSave, async ({ keys }) => {
      if (keys.has('subMissLimit')) misses.clear();
      if (keys.has('subCertFile') || keys.has('subKeyFile')) await certificate.follow();
      const paths = () => [...compiled.prefixes].flatMap(([prefix, { name }]) => [prefix, name]).join();
      const before = paths();
      compiled.settingsChanged();
      if (paths() !== before) listeners.remount();
    }),
    tap(composeStartupSummary, (add) => {
      const standard = compiled.served.find(([, format]) => format === compiled.standard);
      const [prefix] = standard ?? compiled.served[0] ?? [];
      const scheme = certificate.isOn ? 'https' : 'http';
      const { subListen } = allSettings.read(listenerSettings);
      const host = reachableHost({ ...config, host: subListen || config.host });
      add({ subUrl: `${scheme}://${host}:${listeners.port('subscription')}${prefix ?? '/'}` });
    }),
  ],
  routes: (scope) => [...scope.slowFetch.routes(), ...previewRoutes(scope), ...urlRoutes(scope)],
  jobs: ({ certificate, misses, clock }) => [
    everywhere(job('certificate', '1m', () => certificate.follow())),
    everywhere(job('misses', '1m', () => misses.sweep(clock.now()))),
  ],
  start: async ({
    compiled,
    fetchHandler,
    pipelined,
    listeners,
    config,
    allSettings,
    contributions,
    certificate,
    challenges,
  }) => {
    for (const { value, fault } of contributions(WaySources)) {
      try {
        value.start(compiled.wayOutput);
      } catch (error) {
        fault('start of a source of ways', error);
      }
    }
    await compiled.all();
    await certificate.start();
    const { subListen, subPort } = allSettings.read(listenerSettings);
    const listener = listeners.declare(
      'subscription',
      {
        host: subListen || config.host,
        port: subPort,
        portVariable: 'WEIR_SUB_PORT',
        certificate: certificate.isOn ? certificate : undefined,
      },
      (request, response) =>
        pipelined.refuses(request) ||
        challenges?.answer(request, response) ||
        fetchHandler.fast(request, response),
    );
    certificate.use(listener);
  },
});
