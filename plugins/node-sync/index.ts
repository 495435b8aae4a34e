import {
  afterKernelLead,
  contribute,
  definePlugin,
  job,
  maybe,
  provide,
  singleton,
  tap,
} from '../../kernel/index.js';
import { AddressReporters, ClientAddresses } from '../addresses/contract.js';
import { ClientEdits, Clients, duringClientSave, ProgramUsers } from '../clients/contract.js';
import { beforeLeadEnds, inTime, othersWrote, Panels } from '../cluster/contract.js';
import { Devices } from '../devices/contract.js';
import { UserServers } from '../engine/contract.js';
import { duringFallbackSave, Fallbacks } from '../fallbacks/contract.js';
import { duringInboundSave, InboundEdits, InboundPlaces, Inbounds } from '../inbounds/contract.js';
import { elsewhereChanged } from '../node-agent/contract.js';
import {
  afterNodeSave,
  beforeNodeDelete,
  duringNodeSave,
  NodeFigureSources,
  Nodes,
  nodesFlipped,
} from '../nodes/contract.js';
import { PanelIdentity } from '../settings/contract.js';
import { WaySources } from '../subscription/contract.js';
import { CounterSources, duringTrafficCount, Presence, PresenceReporters } from '../traffic/contract.js';
import { Adopter } from './adoption/adopter.js';
import { adoptionRoutes } from './adoption/adoption-routes.js';
import { AdoptionStore } from './adoption/adoption-store.js';
import { Meeting } from './adoption/meeting.js';
import { ClientsToAdopt } from './adoption/clients-to-adopt.js';
import { InboundsToAdopt } from './adoption/inbounds-to-adopt.js';
import { OffersOfNodes } from './adoption/offers.js';
import { SelectedTags } from './adoption/selected-tags.js';
import { AllSenders } from './all-senders.js';
import { ChangesOfNodes } from './changes-of-nodes.js';
import { desiredStateChanged, NodeRecords } from './contract.js';
import { DesiredRecords } from './desired-records.js';
import { errors } from './errors.js';
import { NewsOfClients } from './news-of-clients.js';
import { OnceThere } from './once-there.js';
import { OtherProtocols } from './other-protocols.js';
import { PlacesOfNodes } from './places-of-nodes.js';
import { PresenceOfNodes } from './presence-of-nodes.js';
import { RecordValues } from './record-values.js';
import { routes } from './routes.js';
import { Synchroniser } from './synchroniser.js';
import { migrations, tables } from './tables.js';
import { UsageByMachine } from './usage-by-machine.js';
import { UsageOfNodes } from './usage-of-nodes.js';
import { UsageReports } from './usage-reports.js';

export default definePlugin({
  name: 'node-sync',
  version: '0.1.0',
  api: 1,
  about: 'Keeps nodes as this panel wants them, and counts what their clients use.',
  uses: {
    nodes: Nodes,
    inbounds: Inbounds,
    clients: Clients,
    users: ProgramUsers,
    identity: PanelIdentity,
    online: Presence,
    addresses: maybe(ClientAddresses),
    inboundEdits: InboundEdits,
    clientEdits: ClientEdits,
    fallbacks: maybe(Fallbacks),
    devices: maybe(Devices),
    panels: maybe(Panels),
  },
  hooks: [desiredStateChanged],
  tables,
  migrations,
  services: {
    adoptions: singleton(AdoptionStore),
    offers: singleton(OffersOfNodes),
    inboundsToAdopt: singleton(InboundsToAdopt),
    clientsToAdopt: singleton(ClientsToAdopt),
    adopter: singleton(Adopter),
    meeting: singleton(Meeting),
    selectedTags: singleton(SelectedTags),
    places: singleton(PlacesOfNodes),
    records: singleton(DesiredRecords),
    changes: singleton(ChangesOfNodes),
    onceThere: singleton(OnceThere),
    values: singleton(RecordValues),
    protocols: singleton(OtherProtocols),
    senders: singleton(AllSenders),
    presence: singleton(PresenceOfNodes),
    news: singleton(NewsOfClients),
    usage: singleton(UsageOfNodes),
    byMachine: singleton(UsageByMachine),
    reports: singleton(UsageReports),
    synchroniser: singleton(Synchroniser),
  },
  provides: ({ synchroniser }) => [provide(NodeRecords, synchroniser)],
  contributes: ({ places, senders, usage, records, presence }) => [
    contribute(InboundPlaces, places),
    contribute(WaySources, places),
    contribute(UserServers, senders),
    contribute(CounterSources, usage),
    contribute(PresenceReporters, presence.presenceReporter),
    contribute(AddressReporters, presence.addressReporter),
    contribute(NodeFigureSources, {
      of: ({ id, guid }) => ({ ...records.waiting(id), onlineCount: presence.countOf(guid) }),
      below: (guid) => ({ onlineCount: presence.countOf(guid) }),
    }),
  ],
  taps: ({
    places,
    records,
    changes,
    senders,
    usage,
    byMachine,
    synchroniser,
    inbounds,
    presence,
    news,
    adoptions,
    selectedTags,
    panels,
  }) => [
    tap(afterNodeSave, async ({ changes: saved }) => {
      for (const { before, after } of saved)
        if (before && !after?.enable) {
          presence.left(before.id);
          news.forget(before.id);
        }
      await places.nodesSaved(saved);
      synchroniser.selectionChanged(saved);
      // It may be enabled again, or at another address.
      senders.wake(saved.flatMap(({ before, after }) => (before && after?.enable ? [after.id] : [])));
    }),
    tap(duringInboundSave, async ({ changes: saved }, tx) => {
      await changes.inboundsSaved(saved, tx);
      await adoptions.inboundsSaved(saved, tx);
    }),
    tap(duringFallbackSave, ({ changes: saved }, tx) =>
      changes.fallbacksSaved(
        saved.map(({ masterId }) => masterId),
        tx,
      ),
    ),
    tap(duringClientSave, async ({ changes: saved }, tx) => {
      await changes.clientsSaved(saved, tx);
      await byMachine.clientsSaved(saved, tx);
    }),
    tap(duringTrafficCount, async ({ usage: counted }, tx) => {
      await usage.counted(tx);
      byMachine.counted(counted, tx);
    }),
    tap(elsewhereChanged, ({ clientIds }) => byMachine.toldAbove(clientIds)),
    tap(desiredStateChanged, ({ nodeIds }) => senders.wake(nodeIds)),
    tap(desiredStateChanged, ({ nodeIds }) => selectedTags.follow(nodeIds)),
    tap(nodesFlipped, () => places.guidsLearnt()),
    // Of several panels, one sends to nodes and asks them; the others learn of it what it has learnt.
    tap(afterKernelLead, () => (panels?.number ? senders.wakeAll() : undefined)),
    tap(othersWrote, async () => {
      await places.guidsLearnt();
      await senders.wakeWaiting();
    }),
    tap(beforeLeadEnds, () => inTime(senders.pass())),
    tap(nodesFlipped, ({ flips }) => {
      for (const { id, to } of flips)
        if (to === 'online') void synchroniser.reconcile(id);
        else presence.left(id);
    }),
    tap(
      beforeNodeDelete,
      ({ node }) => {
        const used = inbounds.list().filter(({ nodeId }) => nodeId === node.id);
        if (used.length > 0)
          throw errors.HAS_INBOUNDS(
            `${used
              .slice(0, 5)
              .map(({ tag }) => tag)
              .join(
                ', ',
              )}${used.length > 5 ? ` and ${used.length - 5} more` : ''} run on the node ${node.name}; move or delete them first`,
          );
      },
      { strict: true },
    ),
    tap(duringNodeSave, async ({ changes: saved }, tx) => {
      for (const { kind, before } of saved)
        if (kind === 'deleted' && before) {
          await records.forget(tx, before.id);
          synchroniser.forget(before.id);
        }
    }),
  ],
  routes: (scope) => [...routes(scope), ...adoptionRoutes(scope)],
  jobs: ({ synchroniser, usage, reports, places }) => [
    job('report', '30s', (signal) => reports.run(signal)),
    job('compare', { every: '1m', jitter: '10s' }, async (signal) => {
      await places.guidsLearnt();
      await synchroniser.compareDue(signal);
    }),
    job('acknowledge', '1m', (signal) => usage.acknowledge(signal)),
  ],
  start: async ({ places, senders }) => {
    await places.ready();
    senders.wakeAll();
  },
  stop: async ({ senders, byMachine }) => {
    senders.stop();
    await byMachine.save();
  },
});
