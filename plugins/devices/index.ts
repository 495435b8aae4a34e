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
import { AuditTrail } from '../audit/contract.js';
import { ClientParts, Clients, duringClientSave } from '../clients/contract.js';
import { FetchGates } from '../subscription/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { deviceAdded, deviceRefused, Devices } from './contract.js';
import { devicePart, devicesOf } from './device-part.js';
import { DeviceStore } from './device-store.js';
import { DeviceGate } from './gate.js';
import { deviceRoutes } from './routes.js';
import { migrations, tables } from './tables.js';
import { addedDevice, refusedDevice } from './notified.js';

export default definePlugin({
  name: 'devices',
  version: '0.1.0',
  api: 1,
  about: 'Records the devices that fetch a subscription, and refuses those beyond the limit of the client.',
  uses: { clients: Clients, audit: maybe(AuditTrail) },
  hooks: [deviceAdded, deviceRefused],
  tables,
  migrations,
  services: { store: singleton(DeviceStore), gate: singleton(DeviceGate) },
  provides: ({ store }) => [
    provide(Devices, {
      list: (clientId) => store.list(clientId),
      forget: (client, who) => store.remove(client, who),
      changes: (after, most) => store.feed.changes(after, most),
      take: (changes, source) => store.take(changes, source),
    }),
  ],
  contributes: ({ store, gate }) => [
    contribute(FetchGates, gate),
    contribute(ClientParts, devicePart(store)),
    contribute(NotifiedEvents, addedDevice),
    contribute(NotifiedEvents, refusedDevice),
  ],
  taps: ({ store }) => [
    tap(duringClientSave, async ({ changes }, tx) => {
      const deleted = changes.flatMap(({ kind, before }) => (kind === 'deleted' && before ? before.id : []));
      if (deleted.length > 0) store.clientsDeleted(tx, deleted);
      const sent = devicesOf(changes);
      if (sent.length > 0) await store.add(tx, sent);
    }),
  ],
  routes: deviceRoutes,
  jobs: ({ store, gate }) => [
    everywhere(
      job('write', '5s', async () => {
        gate.report();
        await store.flush();
      }),
    ),
  ],
  stop: ({ store }) => store.flush(),
});
