// Signed callbacks for programs elsewhere: events are stored with the change that they tell of, and sent until an endpoint takes them.
import { afterKernelLead, contribute, definePlugin, job, maybe, singleton, tap } from '../../kernel/index.js';
import { WatchedStates } from '../alarms/contract.js';
import { AuditedHooks, AuditTrail } from '../audit/contract.js';
import { Clients } from '../clients/contract.js';
import { beforeLeadEnds, inTime } from '../cluster/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { Outgoing, OutgoingHosts } from '../outgoing/contract.js';
import { SealedColumns, Secrets } from '../secrets/contract.js';
import { trafficCounted } from '../traffic/contract.js';
import { Attempts } from './attempt.js';
import { CallbackSources, duringEndpointSave } from './contract.js';
import { Deliverer } from './deliverer.js';
import { DeliveryLog } from './delivery-log.js';
import { EndpointService } from './endpoint-service.js';
import { EndpointStore } from './endpoint-store.js';
import { EventTypes } from './event-types.js';
import { Outbox } from './outbox.js';
import { Progress } from './progress.js';
import { endpoints } from './recorded.js';
import { Retention } from './retention.js';
import { routes } from './routes.js';
import { callbackSettings } from './settings.js';
import { sources } from './sources/all-sources.js';
import { migrations, sealedPrevious, sealedSecret, tables } from './tables.js';
import { TrafficInform } from './traffic-inform.js';

export default definePlugin({
  name: 'event-callbacks',
  version: '0.1.0',
  api: 1,
  about: 'Sends signed events to programs elsewhere, at least once, from an outbox.',
  uses: {
    secrets: Secrets,
    outgoing: Outgoing,
    clients: Clients,
    inbounds: Inbounds,
    audit: maybe(AuditTrail),
  },
  hooks: [duringEndpointSave],
  settings: callbackSettings,
  tables,
  migrations,
  services: {
    eventTypes: singleton(EventTypes),
    store: singleton(EndpointStore),
    outbox: singleton(Outbox),
    progress: singleton(Progress),
    attempts: singleton(Attempts),
    deliverer: singleton(Deliverer),
    deliveryLog: singleton(DeliveryLog),
    retention: singleton(Retention),
    service: singleton(EndpointService),
    inform: singleton(TrafficInform),
  },
  contributes: ({ attempts, inform, deliverer }) => [
    contribute(AuditedHooks, endpoints),
    contribute(SealedColumns, sealedSecret),
    contribute(SealedColumns, sealedPrevious),
    contribute(OutgoingHosts, attempts.access),
    contribute(OutgoingHosts, inform.access),
    contribute(WatchedStates, { name: 'callbacks', problem: () => deliverer.problem() }),
    ...sources.map((source) => contribute(CallbackSources, source)),
  ],
  taps: ({ outbox, inform, deliverer }) => [
    ...outbox.taps(),
    tap(trafficCounted, ({ usage }) => inform.counted(usage)),
    tap(afterKernelLead, () => deliverer.start()),
    tap(beforeLeadEnds, () => inTime(deliverer.stop())),
  ],
  routes,
  jobs: ({ retention }) => [job('remove', '1m', (signal) => retention.run(signal))],
  start: ({ store }) => {
    store.isReady = true;
  },
  stop: ({ deliverer }) => deliverer.stop(),
});
