import {
  contribute,
  definePlugin,
  everywhere,
  job,
  Listeners,
  maybe,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { ServedCertificates as AlarmedCertificates } from '../alarms/contract.js';
import { AuditedHooks } from '../audit/contract.js';
import { othersWrote, Panels } from '../cluster/contract.js';
import { Engine } from '../engine/contract.js';
import { InboundEdits, LocalInbounds } from '../inbounds/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import {
  afterSettingsSave,
  beforeSettingsSave,
  NotTransferred,
  NextStartSettings,
  PanelListener,
  type PanelListenerApi,
  SettingGroups,
  Settings,
} from '../settings/contract.js';
import { accountKeys, Accounts } from './accounts.js';
import { CaCalls } from './ca-calls.js';
import { CertificateFolders } from './certificate-files.js';
import { CertificatePairs, pairKeys } from './certificate-pairs.js';
import { CertificateService } from './certificate-service.js';
import { CertificateStore } from './certificate-store.js';
import { ChallengeAnswers } from './challenge-answers.js';
import { commands } from './commands.js';
import { certificateFailed, Challenges, duringCertificateSave } from './contract.js';
import { FollowedCertificates } from './followed.js';
import { Issuer } from './issuer.js';
import { certificates } from './recorded.js';
import { routes } from './routes.js';
import { RenewalSchedule } from './schedule.js';
import { ServedCertificates } from './served.js';
import { SharedProofs } from './shared-proofs.js';
import { PanelFiles } from './panel-files.js';
import { certificateSettings, panelFileSettings } from './settings.js';
import { migrations, tables } from './tables.js';
import { CertificateUses } from './uses.js';
import { failedCertificate } from './notified.js';

/** What environment and config file say of the certificate of the panel. */
function filesOf(listener: PanelListenerApi | undefined) {
  if (!listener || listener.certificateSource === 'default') return {};
  const { certificateSource: source, certificateFiles: files } = listener;
  const values = { webCertFile: files.certificate, webKeyFile: files.key };
  if (source === 'file') return { defaults: values };
  return {
    pinned: {
      webCertFile: { value: values.webCertFile, variable: 'WEIR_TLS_CERT' },
      webKeyFile: { value: values.webKeyFile, variable: 'WEIR_TLS_KEY' },
    },
  };
}

export default definePlugin({
  name: 'certificates',
  version: '0.1.0',
  api: 1,
  about: 'Orders certificates from an authority (ACME), renews them, and puts them in use.',
  uses: {
    inbounds: LocalInbounds,
    inboundEdits: InboundEdits,
    engine: Engine,
    outgoing: Outgoing,
    secrets: Secrets,
    listeners: Listeners,
    allSettings: Settings,
    listener: maybe(PanelListener),
    panels: maybe(Panels),
  },
  hooks: [duringCertificateSave, certificateFailed],
  settings: certificateSettings,
  tables,
  migrations,
  services: {
    pairs: singleton(CertificatePairs),
    store: singleton(CertificateStore),
    folders: singleton(CertificateFolders),
    served: singleton(ServedCertificates),
    calls: singleton(CaCalls),
    accounts: singleton(Accounts),
    answers: singleton(ChallengeAnswers),
    proofs: singleton(SharedProofs),
    issuer: singleton(Issuer),
    uses: singleton(CertificateUses),
    followed: singleton(FollowedCertificates),
    panelFiles: singleton(PanelFiles),
    service: singleton(CertificateService),
    schedule: singleton(RenewalSchedule),
  },
  provides: ({ answers }) => [provide(Challenges, answers)],
  contributes: ({ calls, store, served, listener }) => [
    contribute(SettingGroups, { group: panelFileSettings, ...filesOf(listener) }),
    ...(['webCertFile', 'webKeyFile'] as const).map((setting) =>
      contribute(NotTransferred, { setting, reason: 'its file belongs to this machine' }),
    ),
    contribute(NextStartSettings, {
      settings: Object.keys(panelFileSettings),
      // A listener that serves HTTPS goes on so, with other files at once.
      waits: (path) =>
        listener !== undefined && (listener.certificateFiles.certificate === '' || path === ''),
    }),
    contribute(AuditedHooks, certificates),
    contribute(NotifiedEvents, failedCertificate),
    contribute(OutgoingHosts, calls.access),
    contribute(SealedColumns, accountKeys),
    contribute(SealedColumns, pairKeys),
    contribute(AlarmedCertificates, {
      name: 'inbounds',
      // The panel and the subscription server have alarms of their own.
      validTo: () => {
        const ends = store
          .list()
          .filter(({ uses }) => uses.inbounds.length > 0)
          .flatMap(({ id }) => served.of(id)?.validTo ?? []);
        return ends.length === 0 ? '' : new Date(Math.min(...ends)).toISOString();
      },
    }),
  ],
  taps: ({ panelFiles, proofs, followed }) => [
    tap(beforeSettingsSave, (save) => panelFiles.check(save), { strict: true }),
    tap(afterSettingsSave, async ({ keys }) => {
      if (keys.has('webCertFile') || keys.has('webKeyFile')) await panelFiles.apply();
    }),
    tap(othersWrote, () => {
      proofs.follow();
      // Not awaited: it waits for an order of this panel, and other panels need the next answers meanwhile.
      void followed.changed();
    }),
  ],
  routes,
  commands,
  jobs: ({ schedule, issuer, followed, proofs }) => [
    job('orders', { every: '1m', jitter: '10s' }, (signal) => schedule.run(signal)),
    everywhere(
      job('files', '1m', async () => {
        proofs.follow();
        try {
          await issuer.leave();
        } finally {
          await followed.run();
        }
      }),
    ),
  ],
  start: async ({ served, followed, listeners, answers, panelFiles }) => {
    await served.start();
    await followed.run();
    await panelFiles.apply();
    const { panel } = listeners;
    const { intercept } = panel;
    panel.intercept = (request, response) =>
      answers.answer(request, response) || (intercept?.(request, response) ?? false);
  },
});
