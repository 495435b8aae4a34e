import {
  contribute,
  definePlugin,
  everywhere,
  job,
  maybe,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import {
  beforeClientDelete,
  beforeClientSave,
  ClientEdits,
  ClientPeriods,
  Clients,
  duringClientSave,
  PresenceSources,
  WithheldUsers,
} from '../clients/contract.js';
import { Panels, SharedFigures } from '../cluster/contract.js';
import { beforeCoreStop, beforeCountersGo, coreStateChanged, Engine } from '../engine/contract.js';
import { afterInboundSave, InboundLimits, Inbounds, LocalInbounds } from '../inbounds/contract.js';
import { Invariants } from '../invariants/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { afterSettingsSave, PanelIdentity, Settings } from '../settings/contract.js';
import { Baselines } from './baselines.js';
import { ClientLimits } from './client-limits.js';
import { ClientWatch } from './client-watch.js';
import {
  clientDepleted,
  clientRenewed,
  clientTrafficReset,
  countedInPanels,
  Counting,
  depletionCandidates,
  duringTrafficCount,
  inboundDepleted,
  Presence,
  trafficCounted,
  trafficDeltas,
  trafficReset,
} from './contract.js';
import { DeletedClients } from './deleted-clients.js';
import { ReturningClients } from './returning-clients.js';
import { readingsFollow } from './invariants.js';
import { InboundWatch } from './inbound-watch.js';
import { LimitsInMemory } from './limits-in-memory.js';
import { ONLINE_MS, OnlineClients, POLL_MS } from './online.js';
import { OwnCore } from './own-core.js';
import { Poll } from './poll.js';
import { Preview } from './preview.js';
import { ReadingJournal } from './reading-journal.js';
import { ReportedPresence } from './reported-presence.js';
import { routes } from './routes.js';
import { ShownPresence } from './shown-presence.js';
import { SourceReader } from './source-reader.js';
import { StreamBaselines } from './stream-baselines.js';
import { migrations, tables } from './tables.js';
import { depletedClients, depletedInbounds, renewedClients } from './notified.js';

export default definePlugin({
  name: 'traffic',
  version: '0.1.0',
  api: 1,
  essential: true,
  about:
    'Counts the bytes of clients, each once, disables clients and inbounds at their limits, and renews them.',
  uses: {
    engine: Engine,
    clients: Clients,
    periods: ClientPeriods,
    edits: ClientEdits,
    withheld: WithheldUsers,
    inbounds: Inbounds,
    localInbounds: LocalInbounds,
    limits: InboundLimits,
    settings: Settings,
    identity: PanelIdentity,
    panels: maybe(Panels),
  },
  hooks: [
    trafficDeltas,
    duringTrafficCount,
    depletionCandidates,
    trafficCounted,
    countedInPanels,
    clientDepleted,
    clientRenewed,
    clientTrafficReset,
    inboundDepleted,
    trafficReset,
  ],
  tables,
  migrations,
  services: {
    ownCore: singleton(OwnCore),
    journal: singleton(ReadingJournal),
    baselines: singleton(Baselines),
    streamBaselines: singleton(StreamBaselines),
    sources: singleton(SourceReader),
    reported: singleton(ReportedPresence),
    online: singleton(OnlineClients),
    presence: singleton(ShownPresence),
    watch: singleton(InboundWatch),
    clientLimits: singleton(ClientLimits),
    clientWatch: singleton(ClientWatch),
    deletedClients: singleton(DeletedClients),
    returning: singleton(ReturningClients),
    limitsInMemory: singleton(LimitsInMemory),
    poll: singleton(Poll),
    preview: singleton(Preview),
  },
  provides: ({ presence, poll }) => [
    provide(Presence, presence),
    provide(Counting, {
      count: () => poll.run(),
      last: (source, readings) => poll.lastOf(source, readings),
    }),
  ],
  contributes: ({ presence, baselines, streamBaselines, ownCore, engine }) => [
    contribute(PresenceSources, presence),
    contribute(SharedFigures, presence),
    contribute(Invariants, readingsFollow({ baselines, streams: streamBaselines, ownCore, engine })),
    contribute(NotifiedEvents, depletedClients),
    contribute(NotifiedEvents, depletedInbounds),
    contribute(NotifiedEvents, renewedClients),
  ],
  taps: ({ poll, baselines, streamBaselines, online, watch, clientWatch, deletedClients, returning }) => [
    tap(beforeCoreStop, () => poll.run()),
    tap(beforeCountersGo, ({ counters }) => poll.last(counters)),
    tap(afterInboundSave, () => watch.changed()),
    tap(afterSettingsSave, () => {
      watch.changed();
      clientWatch.changed();
    }),
    tap(coreStateChanged, ({ to }) => {
      if (to !== 'running') online.clear();
    }),
    tap(beforeClientDelete, async ({ clients, keepTraffic }) => {
      // What is kept is complete when the answer comes. Later polls add what open connections still move.
      if (keepTraffic) {
        await poll.run();
        baselines.expectDeletion(clients.map(({ id }) => id));
      }
      deletedClients.expect(clients, keepTraffic);
    }),
    // The core has counters of clients that return: they are read before, and count from there on.
    tap(beforeClientSave, ({ changes }) => returning.read(changes)),
    tap(duringClientSave, async ({ changes }, tx) => {
      await returning.save(tx, changes);
      const deleted = changes.flatMap(({ kind, before }) => (kind === 'deleted' && before ? before.id : []));
      if (deleted.length === 0) return;
      baselines.deleted(tx, deleted);
      streamBaselines.deleted(tx, deleted);
    }),
  ],
  routes,
  start: ({ reported, contributions }) => reported.open(contributions, ONLINE_MS),
  // Each panel counts its own core.
  jobs: ({ poll }) => [everywhere(job('poll', `${POLL_MS}ms`, () => poll.run()))],
});
