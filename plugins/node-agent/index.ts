import { contribute, definePlugin, job, maybe, singleton, tap } from '../../kernel/index.js';
import { AddressReporters, ClientAddresses } from '../addresses/contract.js';
import { AuditTrail } from '../audit/contract.js';
import {
  ClientEdits,
  Clients,
  duringClientSave,
  ProgramUsers,
  UsageSources,
  WithheldUsers,
} from '../clients/contract.js';
import { Devices } from '../devices/contract.js';
import { Engine } from '../engine/contract.js';
import { duringFallbackSave, Fallbacks } from '../fallbacks/contract.js';
import { duringInboundSave, InboundEdits, Inbounds } from '../inbounds/contract.js';
import { Nodes } from '../nodes/contract.js';
import { PanelIdentity } from '../settings/contract.js';
import { Counting, duringTrafficCount, Presence } from '../traffic/contract.js';
import { Centrals } from './centrals.js';
import { Changes } from './changes.js';
import { ClientChanges } from './client-changes.js';
import { elsewhereChanged } from './contract.js';
import { clientsChanged, inboundsChanged } from './drift.js';
import { ElsewhereUsage } from './elsewhere.js';
import { Epochs } from './epochs.js';
import { FallbackChanges } from './fallback-changes.js';
import { InboundChanges } from './inbound-changes.js';
import { offerRoutes } from './offer-routes.js';
import { Offers } from './offers.js';
import { presenceRoutes } from './presence-routes.js';
import { isCentral } from './principal.js';
import { Records } from './records.js';
import { routes } from './routes.js';
import { AgentState } from './state.js';
import { migrations, tables } from './tables.js';
import { AddressesOfHere } from './told-addresses.js';
import { DevicesOfHere } from './told-devices.js';
import { PresenceOfHere } from './told-presence.js';
import { UsageJournal } from './usage-journal.js';
import { UsageSeeds } from './usage-seeds.js';
import { UsageTotals } from './usage-totals.js';

export default definePlugin({
  name: 'node-agent',
  version: '0.1.0',
  api: 1,
  about:
    'Lets other panels manage this one: takes the inbounds and clients that they want, and counts usage for them.',
  uses: {
    engine: Engine,
    clients: Clients,
    clientEdits: ClientEdits,
    users: ProgramUsers,
    inbounds: Inbounds,
    inboundEdits: InboundEdits,
    identity: PanelIdentity,
    online: Presence,
    addresses: maybe(ClientAddresses),
    devices: maybe(Devices),
    nodes: maybe(Nodes),
    counting: Counting,
    withheld: WithheldUsers,
    audit: maybe(AuditTrail),
    fallbacks: maybe(Fallbacks),
  },
  hooks: [elsewhereChanged],
  tables,
  migrations,
  services: {
    centrals: singleton(Centrals),
    epochs: singleton(Epochs),
    journal: singleton(UsageJournal),
    totals: singleton(UsageTotals),
    records: singleton(Records),
    fallbackChanges: singleton(FallbackChanges),
    inboundChanges: singleton(InboundChanges),
    clientChanges: singleton(ClientChanges),
    changes: singleton(Changes),
    state: singleton(AgentState),
    seeds: singleton(UsageSeeds),
    offers: singleton(Offers),
    elsewhere: singleton(ElsewhereUsage),
    presence: singleton(PresenceOfHere),
    addressesOfHere: singleton(AddressesOfHere),
    devicesOfHere: singleton(DevicesOfHere),
  },
  contributes: ({ elsewhere, addressesOfHere }) => [
    contribute(UsageSources, elsewhere),
    contribute(AddressReporters, addressesOfHere),
  ],
  taps: ({ centrals, epochs, journal, records }) => [
    tap(duringTrafficCount, async ({ usage }, tx) => {
      if (!centrals.isEmpty || epochs.current.skipsPoll) await journal.append(tx, usage);
    }),
    tap(duringClientSave, async ({ changes, who }, tx) => {
      if (!centrals.isEmpty && !isCentral(who)) await clientsChanged(tx, changes, records);
    }),
    tap(duringInboundSave, async ({ changes, who }, tx) => {
      if (!centrals.isEmpty && !isCentral(who)) await inboundsChanged(tx, changes, records);
    }),
    tap(duringFallbackSave, async ({ changes, who }, tx) => {
      if (centrals.isEmpty || isCentral(who)) return;
      const masters = changes.map(({ masterId }) => masterId);
      await records.drifted(tx, 'inbound', masters);
    }),
  ],
  routes: (scope) => [...routes(scope), ...presenceRoutes(scope), ...offerRoutes(scope)],
  jobs: ({ changes, journal, totals }) => [
    job('retry', '1m', (signal) => changes.retry(signal)),
    job('move', '1m', (signal) => journal.move(signal)),
    job('prune', '1h', () => totals.prune()),
  ],
  start: ({ epochs }) => epochs.start(),
});
