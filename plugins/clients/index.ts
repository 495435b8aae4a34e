import { definePlugin, contribute, job, provide, singleton, tap, validate } from '../../kernel/index.js';
import { CoreUsers, Engine } from '../engine/contract.js';
import { afterInboundSave, describeInbounds, InboundEdits, Inbounds } from '../inbounds/contract.js';
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
import { forgetImports, Import } from './import/import.js';
import { inboundImportRoutes } from './inbound-import.js';
import { describe } from './inbound-view.js';
import { ManyClients } from './many.js';
import { manyRoutes } from './many-routes.js';
import { routes } from './routes.js';
import { Edits } from './edits.js';
import { groupRoutes } from './group-routes.js';
import { afterGroupSave, GroupStore } from './group-store.js';
import { Groups } from './groups.js';
import { ClientLists } from './lists.js';
import { AddClient } from './schema.js';
import { ClientService } from './service.js';
import { clientSettings } from './settings.js';
import { afterClientPatch, afterClientUsage, ClientStore } from './store.js';
import { migrations } from './tables.js';

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
    afterClientPatch,
    afterClientUsage,
    afterGroupSave,
  ],
  migrations,
  services: {
    store: singleton(ClientStore),
    edits: singleton(Edits),
    service: singleton(ClientService),
    lists: singleton(ClientLists),
    many: singleton(ManyClients),
    groupStore: singleton(GroupStore),
    groups: singleton(Groups),
    importing: singleton(Import),
  },
  provides: ({ store, service, many }) => [
    provide(Clients, store),
    provide(ClientEdits, {
      add: async (client, who) => service.add(validate(AddClient, client), who),
      resetTrafficOf: (inboundIds, who, also) => many.resetOf(inboundIds, who, also),
    }),
  ],
  contributes: ({ store }) => [contribute(CoreUsers, store)],
  taps: ({ store, groupStore }) => [
    tap(afterGroupSave, ({ set, gone }) => groupStore.apply(set, gone)),
    tap(afterClientSave, ({ changes }) => store.roster.apply(changes)),
    tap(afterClientPatch, (patches) => store.roster.patchAll(patches)),
    tap(afterClientUsage, ({ usage, at }) => store.roster.count(usage, at)),
    tap(afterInboundSave, ({ changes }) => {
      for (const { kind, before } of changes)
        if (kind === 'deleted' && before) store.roster.dropInbound(before.id);
    }),
    tap(describeInbounds, (rows, { whole }) => describe(rows, store.roster, whole)),
  ],
  routes: (scope) => [
    ...routes(scope),
    ...manyRoutes(scope),
    ...groupRoutes(scope),
    ...inboundImportRoutes(scope),
  ],
  jobs: ({ store }) => [job('fetches', '10s', () => store.flushFetches())],
  start: async ({ store, groupStore, db, dataDirectory }) => {
    await forgetImports(dataDirectory);
    await groupStore.load();
    await store.roster.load(db);
  },
  stop: ({ store }) => store.flushFetches(),
});
