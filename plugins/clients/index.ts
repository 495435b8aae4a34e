import { definePlugin, contribute, job, provide, singleton, tap, validate } from '../../kernel/index.js';
import { CoreUsers, Engine } from '../engine/contract.js';
import { describeInbounds, duringInboundSave, InboundEdits, Inbounds } from '../inbounds/contract.js';
import {
  afterClientSave,
  beforeClientDelete,
  beforeClientSave,
  clientChanged,
  ClientEdits,
  Clients,
  duringClientSave,
  duringGroupSave,
  prepareClientSave,
} from './contract.js';
import { BulkOperations } from './edits/bulk-operations.js';
import { bulkRoutes } from './edits/bulk-routes.js';
import { clientRoutes } from './edits/client-routes.js';
import { ClientService } from './edits/client-service.js';
import { ClientWriter } from './edits/client-writer.js';
import { groupRoutes } from './groups/group-routes.js';
import { GroupStore } from './groups/group-store.js';
import { Groups } from './groups/groups.js';
import { deleteStaleImports, Import } from './import/import.js';
import { inboundImportRoutes } from './import/inbound-import.js';
import { transferRoutes } from './import/transfer-routes.js';
import { ClientLists } from './lists/client-lists.js';
import { describe } from './lists/inbound-stats.js';
import { listRoutes } from './lists/list-routes.js';
import { ClientStore } from './model/client-store.js';
import { AddClient } from './model/schema.js';
import { migrations, tables } from './model/tables.js';
import { clientSettings } from './settings.js';
import { UsageEdits } from './usage/usage-edits.js';

export default definePlugin({
  name: 'clients',
  version: '0.1.0',
  api: 1,
  essential: true,
  about: 'The accounts that use the core, attached to its inbounds.',
  uses: { engine: Engine, inbounds: Inbounds, inboundEdits: InboundEdits },
  settings: clientSettings,
  hooks: [
    prepareClientSave,
    beforeClientSave,
    beforeClientDelete,
    duringClientSave,
    duringGroupSave,
    afterClientSave,
    clientChanged,
  ],
  tables,
  migrations,
  services: {
    store: singleton(ClientStore),
    groupStore: singleton(GroupStore),
    writer: singleton(ClientWriter),
    service: singleton(ClientService),
    bulk: singleton(BulkOperations),
    usage: singleton(UsageEdits),
    lists: singleton(ClientLists),
    groups: singleton(Groups),
    importing: singleton(Import),
  },
  provides: ({ store, service, usage }) => [
    provide(Clients, store),
    provide(ClientEdits, {
      add: async (client, who) => service.add(validate(AddClient, client), who),
      resetTrafficOf: (inboundIds, who, also) => usage.resetOf(inboundIds, who, also),
    }),
  ],
  contributes: ({ store }) => [contribute(CoreUsers, store)],
  taps: ({ store }) => [
    // The database deletes their attachments in the same transaction.
    tap(duringInboundSave, ({ changes }, tx) => {
      const deletedInbounds = changes.flatMap(({ kind, before }) =>
        kind === 'deleted' && before ? [before.id] : [],
      );
      if (deletedInbounds.length > 0) store.change(tx, { deletedInbounds });
    }),
    tap(describeInbounds, (rows, { whole }) => describe(rows, store.roster, whole)),
  ],
  routes: (scope) => [
    ...listRoutes(scope),
    ...clientRoutes(scope),
    ...bulkRoutes(scope),
    ...transferRoutes(scope),
    ...groupRoutes(scope),
    ...inboundImportRoutes(scope),
  ],
  jobs: ({ store }) => [job('fetches', '10s', () => store.flushFetches())],
  start: ({ dataDirectory }) => deleteStaleImports(dataDirectory),
  stop: ({ store }) => store.flushFetches(),
});
