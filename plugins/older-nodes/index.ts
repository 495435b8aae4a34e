import { afterKernelLead, contribute, definePlugin, maybe, singleton, tap } from '../../kernel/index.js';
import { Clients, duringClientSave, ProgramUsers } from '../clients/contract.js';
import { Panels } from '../cluster/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { NodeProtocols, NodeRecords } from '../node-sync/contract.js';
import { afterNodeSave, duringNodeSave, Nodes, StatusForms } from '../nodes/contract.js';
import { PanelIdentity } from '../settings/contract.js';
import { CounterSources, duringTrafficCount } from '../traffic/contract.js';
import { NodeChangeCalls } from './calls.js';
import { ClientChanges } from './client-changes.js';
import { InboundChanges } from './inbound-changes.js';
import { Ledger } from './ledger.js';
import { NameStore } from './names.js';
import { OlderProtocol } from './older-protocol.js';
import { OlderUsage } from './older-usage.js';
import { RemoteStates } from './remote-state.js';
import { migrations, tables } from './tables.js';
import { Wire } from './wire.js';

export default definePlugin({
  name: 'older-nodes',
  version: '0.1.0',
  api: 1,
  about: 'Keeps nodes whose panel is of the older kind, by the API that such a panel has.',
  uses: {
    nodes: Nodes,
    nodeRecords: NodeRecords,
    inbounds: Inbounds,
    clients: Clients,
    users: ProgramUsers,
    identity: PanelIdentity,
    panels: maybe(Panels),
  },
  tables,
  migrations,
  services: {
    names: singleton(NameStore),
    states: singleton(RemoteStates),
    calls: singleton(NodeChangeCalls),
    wire: singleton(Wire),
    inboundChanges: singleton(InboundChanges),
    clientChanges: singleton(ClientChanges),
    ledger: singleton(Ledger),
    usage: singleton(OlderUsage),
    protocol: singleton(OlderProtocol),
  },
  contributes: ({ protocol, usage }) => [
    contribute(NodeProtocols, protocol),
    contribute(CounterSources, usage),
    // Their name for the core.
    contribute(StatusForms, (status) =>
      'engine' in status || !('xray' in status) ? status : { ...status, engine: status['xray'] },
    ),
  ],
  taps: ({ names, ledger, states, usage, panels }) => [
    // The panel that led before has given names since this one has started.
    tap(afterKernelLead, () => (panels?.number ? names.load() : undefined)),
    tap(duringTrafficCount, (_, tx) => ledger.counted(tx)),
    tap(duringClientSave, ({ changes }, tx) =>
      ledger.clientsDeleted(
        tx,
        changes.flatMap(({ before, after }) => (before && !after ? [before.id] : [])),
      ),
    ),
    tap(duringNodeSave, async ({ changes }, tx) => {
      for (const { before, after } of changes)
        if (before && !after) {
          await names.forgetNode(tx, before.id);
          await ledger.forgetNode(tx, before.id);
        }
    }),
    tap(afterNodeSave, ({ changes }) => {
      for (const { before, after } of changes)
        if (before && !after) {
          names.forgotten(before.id);
          states.forgetNode(before.id);
          usage.forget(before.id);
        }
    }),
  ],
  start: ({ names }) => names.load(),
});
