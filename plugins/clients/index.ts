import {
  contribute,
  definePlugin,
  everywhere,
  job,
  maybe,
  provide,
  singleton,
  tap,
  validate,
} from '../../kernel/index.js';
import { ArchiveParts } from '../archive/contract.js';
import { AuditedHooks, AuditTrail, undoer, Undoers } from '../audit/contract.js';
import { othersWrote } from '../cluster/contract.js';
import { CoreUsers, Engine } from '../engine/contract.js';
import { Invariants } from '../invariants/contract.js';
import {
  beforeInboundSave,
  clientlessReason,
  duringInboundSave,
  InboundClients,
  InboundEdits,
  Inbounds,
  LocalInbounds,
} from '../inbounds/contract.js';
import { clientsPart } from './archive/clients-part.js';
import { groupsPart } from './archive/groups-part.js';
import {
  afterClientSave,
  afterClientSwitch,
  beforeClientDelete,
  beforeClientSave,
  ClientArrivals,
  type ClientChange,
  clientChanged,
  ClientEdits,
  ClientPages,
  ClientPeriods as ClientPeriodsToken,
  ClientPortions,
  Clients,
  ClientTraffic,
  ProgramUsers,
  SettledEdits,
  WithheldUsers,
  duringClientSave,
  duringGroupSave,
  prepareClientSave,
} from './contract.js';
import { ClientCredentials } from './credentials/client-credentials.js';
import { BulkOperations } from './edits/bulk-operations.js';
import { BulkPlans } from './edits/bulk-plans.js';
import { bulkRoutes } from './edits/bulk-routes.js';
import { clientRoutes } from './edits/client-routes.js';
import { ClientService } from './edits/client-service.js';
import { groupUndoer } from './groups/group-undoer.js';
import { ClientUndo } from './edits/client-undo.js';
import { ClientWriter } from './edits/client-writer.js';
import { Portions } from './edits/portions.js';
import { EditsWithSettlement } from './edits/settled-edits.js';
import { WantedClients } from './edits/wanted-clients.js';
import { groupRoutes } from './groups/group-routes.js';
import { errors } from './errors.js';
import { GroupStore } from './groups/group-store.js';
import { Groups } from './groups/groups.js';
import { Arrivals } from './import/arrivals.js';
import { ClientImport, deleteStaleImports } from './import/client-import.js';
import { exportImportRoutes } from './import/export-import-routes.js';
import { inboundImportRoutes } from './import/inbound-import.js';
import { SentClientsPlanner } from './import/sent-clients.js';
import { ClientLists } from './lists/client-lists.js';
import { clientsOf } from './lists/inbound-clients.js';
import { listRoutes } from './lists/list-routes.js';
import { ShownUsage } from './lists/shown-usage.js';
import { clientInvariants } from './model/invariants.js';
import { PartsOfClients } from './model/client-parts.js';
import { ClientStore } from './model/client-store.js';
import { ClientCoreUsers } from './model/core-users.js';
import { AddClient, ClientPatch } from './model/schema.js';
import { migrations, tables } from './model/tables.js';
import { clients, groups } from './recorded.js';
import { clientSettings } from './settings.js';
import { ClientPeriods } from './usage/client-periods.js';
import { UsageEdits } from './usage/usage-edits.js';

export default definePlugin({
  name: 'clients',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'The accounts that use the core, attached to its inbounds.',
  uses: {
    engine: Engine,
    inbounds: Inbounds,
    localInbounds: LocalInbounds,
    inboundEdits: InboundEdits,
    audit: maybe(AuditTrail),
  },
  settings: clientSettings,
  hooks: [
    prepareClientSave,
    beforeClientSave,
    beforeClientDelete,
    duringClientSave,
    duringGroupSave,
    afterClientSave,
    afterClientSwitch,
    clientChanged,
  ],
  tables,
  migrations,
  services: {
    store: singleton(ClientStore),
    coreUsers: singleton(ClientCoreUsers),
    groupStore: singleton(GroupStore),
    credentials: singleton(ClientCredentials),
    writer: singleton(ClientWriter),
    parts: singleton(PartsOfClients),
    service: singleton(ClientService),
    plans: singleton(BulkPlans),
    bulk: singleton(BulkOperations),
    wanted: singleton(WantedClients),
    settled: singleton(EditsWithSettlement),
    usage: singleton(UsageEdits),
    periods: singleton(ClientPeriods),
    shown: singleton(ShownUsage),
    lists: singleton(ClientLists),
    groups: singleton(Groups),
    portions: singleton(Portions),
    importing: singleton(ClientImport),
    arrivals: singleton(Arrivals),
    undo: singleton(ClientUndo),
    sentClients: singleton(SentClientsPlanner),
  },
  provides: ({
    store,
    service,
    settled,
    wanted,
    usage,
    periods,
    coreUsers,
    shown,
    arrivals,
    portions,
    lists,
  }) => [
    provide(SettledEdits, settled),
    provide(ClientPages, lists),
    provide(ClientPortions, portions),
    provide(ClientArrivals, arrivals),
    provide(Clients, store),
    provide(ClientTraffic, { of: (row) => shown.traffic(row) }),
    provide(WithheldUsers, coreUsers),
    provide(ProgramUsers, coreUsers.ofPrograms),
    provide(ClientPeriodsToken, periods),
    provide(ClientEdits, {
      add: async (client, who) => service.add(validate(AddClient, client), who),
      make: (list, who, also) => wanted.make(list, who, also),
      update: async (email, patch, who) => service.update(email, validate(ClientPatch, patch), who),
      resetTraffic: async (emails, who) => (await usage.resetTraffic(emails, who)).applied,
      resetAllTraffic: (who) => usage.resetAll(who, () => undefined),
      resetTrafficOf: (inboundIds, who, also) => usage.resetOf(inboundIds, who, also),
    }),
  ],
  contributes: ({ coreUsers, sentClients, store, shown, db, service, parts, undo, groups: allGroups }) => [
    contribute(ArchiveParts, groupsPart(allGroups)),
    contribute(ArchiveParts, clientsPart({ store, service, parts })),
    contribute(AuditedHooks, clients),
    contribute(AuditedHooks, groups),
    contribute(
      Undoers,
      undoer<ClientChange>({
        area: 'client',
        keep: (changes) => undo.keep(changes),
        now: (change) => undo.now(change),
        undo: (changes, who) => undo.undo(changes, who),
      }),
    ),
    contribute(Undoers, groupUndoer(allGroups)),
    ...clientInvariants(store, db).map((invariant) => contribute(Invariants, invariant)),
    contribute(CoreUsers, coreUsers),
    contribute(InboundClients, {
      plan: (sent) => sentClients.plan(sent),
      show: (inboundId, shownIn) => clientsOf(inboundId, shownIn, store.roster, shown),
    }),
  ],
  taps: ({ store, coreUsers, inbounds, credentials }) => [
    tap(othersWrote, ({ told }) => coreUsers.followOthers(told)),
    // Looks through the clients only where an inbound stops taking any.
    tap(beforeInboundSave, ({ before, after }) => {
      const reason = clientlessReason(inbounds.protocol(after.protocol), after);
      if (!before || reason === undefined) return;
      const count = store.roster
        .ordered('id')
        .filter(({ inboundIds }) => inboundIds.includes(before.id)).length;
      if (count > 0)
        throw errors.STILL_ATTACHED(
          `${count} clients are attached to this inbound: ${reason}; detach them first`,
          { path: 'settings' },
        );
    }),
    // The database deletes the attachments of deleted inbounds in the same transaction.
    tap(duringInboundSave, async ({ changes }, tx) => {
      const deletedInbounds = changes.flatMap(({ kind, before }) =>
        kind === 'deleted' && before ? [before.id] : [],
      );
      if (deletedInbounds.length > 0) {
        credentials.forget(deletedInbounds);
        store.change(tx, { deletedInbounds });
      }
      for (const { before, after } of changes)
        if (before && after && before.protocol !== after.protocol) await credentials.renew(tx, after);
    }),
  ],
  routes: (scope) => [
    ...listRoutes(scope),
    ...clientRoutes(scope),
    ...bulkRoutes(scope),
    ...exportImportRoutes(scope),
    ...groupRoutes(scope),
    ...inboundImportRoutes(scope),
  ],
  jobs: ({ store }) => [everywhere(job('fetches', '10s', () => store.fetches.flush()))],
  start: ({ dataDirectory }) => deleteStaleImports(dataDirectory),
  stop: ({ store }) => store.fetches.flush(),
});
