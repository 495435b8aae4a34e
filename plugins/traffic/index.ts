import { definePlugin, contribute, job, provide, singleton, tap } from '../../kernel/index.js';
import {
  afterClientSave,
  beforeClientDelete,
  ClientEdits,
  Clients,
  PresenceSources,
} from '../clients/contract.js';
import { beforeCoreStop, beforeCountersGo, coreStateChanged, Engine } from '../engine/contract.js';
import { afterInboundSave, InboundLimits, Inbounds } from '../inbounds/contract.js';
import { afterSettingsSave, Settings } from '../settings/contract.js';
import { afterBaselines, Baselines } from './baselines.js';
import {
  clientDepleted,
  depletionCandidates,
  inboundDepleted,
  Presence,
  trafficCounted,
  trafficDeltas,
  trafficReset,
} from './contract.js';
import { Departed } from './departed.js';
import { InboundWatch } from './inbound-watch.js';
import { OnlineClients, POLL_MS } from './online.js';
import { Poll } from './poll.js';
import { routes } from './routes.js';
import { migrations } from './tables.js';

export default definePlugin({
  name: 'traffic',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'Counts what clients move, once, and switches clients and inbounds off at their limits.',
  uses: {
    engine: Engine,
    clients: Clients,
    edits: ClientEdits,
    inbounds: Inbounds,
    limits: InboundLimits,
    settings: Settings,
  },
  hooks: [
    trafficDeltas,
    depletionCandidates,
    trafficCounted,
    clientDepleted,
    inboundDepleted,
    trafficReset,
    afterBaselines,
  ],
  migrations,
  services: {
    baselines: singleton(Baselines),
    online: singleton(OnlineClients),
    watch: singleton(InboundWatch),
    departed: singleton(Departed),
    poll: singleton(Poll),
  },
  provides: ({ online }) => [provide(Presence, online)],
  contributes: ({ online }) => [contribute(PresenceSources, online)],
  taps: ({ poll, baselines, online, watch, departed }) => [
    tap(beforeCoreStop, () => poll.run()),
    tap(beforeCountersGo, ({ counters }) => poll.last(counters)),
    tap(afterInboundSave, () => watch.changed()),
    tap(afterSettingsSave, () => watch.changed()),
    tap(afterBaselines, (readings) => baselines.apply(readings)),
    tap(coreStateChanged, ({ to }) => {
      if (to !== 'running') online.clear();
    }),
    tap(beforeClientDelete, async ({ clients, keepTraffic }) => {
      // What is kept is whole when the answer comes; what runs on is added by later polls.
      if (keepTraffic) await poll.run();
      departed.leave(clients, keepTraffic);
    }),
    tap(afterClientSave, ({ changes }) => {
      for (const { kind, before } of changes)
        if (kind === 'deleted' && before && !departed.left(before.id))
          baselines.forget(before.id, before.inboundIds);
    }),
  ],
  routes,
  jobs: ({ poll }) => [job('poll', `${POLL_MS}ms`, () => poll.run())],
  start: ({ baselines }) => baselines.load(),
});
