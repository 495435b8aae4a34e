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
import { AuditTrail } from '../audit/contract.js';
import { afterClientSave, Clients } from '../clients/contract.js';
import { othersWrote, Panels } from '../cluster/contract.js';
import { OpenConnections } from '../connection-cut/contract.js';
import { CoreAccess, CoreOnline } from '../engine/contract.js';
import { PanelIdentity, Settings } from '../settings/contract.js';
import { NotifiedEvents } from '../notifications/contract.js';
import { AddressFeed } from './address-feed.js';
import { ClientsAt } from './clients-at.js';
import {
  AddressArrivals,
  addressLimitExceeded,
  afterAddressesClear,
  ClientAddresses,
  cutAddresses,
} from './contract.js';
import { History } from './history.js';
import { AddressLimit } from './limit.js';
import { Observer } from './observer.js';
import { OnlineScan } from './online-scan.js';
import { AddressReports } from './reports.js';
import { routes } from './routes.js';
import { addressSettings } from './settings.js';
import { SharedPlaces } from './shared-places.js';
import { Sightings } from './sightings.js';
import { migrations, tables } from './tables.js';
import { AddressViews } from './views.js';
import { exceededLimits } from './notified.js';

export default definePlugin({
  name: 'addresses',
  version: '0.1.0',
  api: 1,
  about: 'Remembers from where clients connect, and acts on their limitIp.',
  uses: {
    access: maybe(CoreAccess),
    online: maybe(CoreOnline),
    connections: maybe(OpenConnections),
    clients: Clients,
    listeners: Listeners,
    settingsApi: Settings,
    identity: PanelIdentity,
    audit: maybe(AuditTrail),
    panels: maybe(Panels),
  },
  hooks: [addressLimitExceeded, afterAddressesClear, cutAddresses],
  settings: addressSettings,
  tables,
  migrations,
  services: {
    sightings: singleton(Sightings),
    history: singleton(History),
    feed: singleton(AddressFeed),
    shared: singleton(SharedPlaces),
    limit: singleton(AddressLimit),
    observer: singleton(Observer),
    scan: singleton(OnlineScan),
    reports: singleton(AddressReports),
    views: singleton(AddressViews),
    clientsAt: singleton(ClientsAt),
  },
  contributes: () => [contribute(NotifiedEvents, exceededLimits)],
  provides: ({ clientsAt, history }) => [
    provide(ClientAddresses, clientsAt),
    provide(AddressArrivals, { add: (seen) => history.adopt(seen) }),
  ],
  taps: ({ sightings, shared, limit }) => [
    // Their rows go with their clients.
    tap(afterClientSave, ({ changes }) => {
      for (const { kind, before } of changes)
        if (kind === 'deleted' && before) sightings.forgetClient(before.id);
    }),
    tap(afterAddressesClear, ({ clientId }) => sightings.forgetClient(clientId)),
    // Not awaited: a check reads the log of the core.
    tap(othersWrote, () => void limit.seen(shared.takeChanged())),
  ],
  routes,
  jobs: ({ sightings, history, scan, shared }) => [
    // Each panel asks its own core.
    everywhere(job('online', '10s', () => scan.run())),
    ...(shared.isOn
      ? [everywhere(job('share', '5s', () => shared.run())), job('forget', '1m', () => shared.prune())]
      : []),
    everywhere(job('write', '10s', () => history.flush())),
    everywhere(job('tidy', '1m', () => sightings.tidy())),
    job('prune', '1h', (signal) => history.prune(signal)),
  ],
  start: async ({ history, observer, reports, contributions }) => {
    await history.start();
    observer.start();
    reports.open(contributions);
  },
  stop: async ({ history, observer }) => {
    await observer.stop();
    await history.stop();
  },
});
