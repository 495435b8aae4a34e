// Resellers: admins who see and change clients of their own only, within quotas.
import { definePlugin, maybe, singleton, tap } from '../../kernel/index.js';
import { AdminList, CallerRights } from '../access/contract.js';
import { AuditTrail } from '../audit/contract.js';
import { ClientPages, Clients, duringClientSave, SettledEdits } from '../clients/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { Subscription } from '../subscription/contract.js';
import { Counting } from '../traffic/contract.js';
import { adminRoutes } from './admin-routes.js';
import { Ledger } from './ledger.js';
import { OwnClients } from './own-clients.js';
import { ownRoutes } from './own-routes.js';
import { Ownership } from './ownership.js';
import { ResellerMemory } from './reseller-state.js';
import { ResellerStore } from './reseller-store.js';
import { Scopes } from './scope.js';
import { migrations, tables } from './tables.js';
import { OwnViews } from './views.js';

export default definePlugin({
  name: 'resellers',
  version: '0.1.0',
  api: 1,
  about: 'Resellers: admins who see and change their own clients only, within quotas.',
  uses: {
    rights: CallerRights,
    admins: AdminList,
    clients: Clients,
    pages: ClientPages,
    edits: SettledEdits,
    counting: Counting,
    inbounds: Inbounds,
    subscription: maybe(Subscription),
    audit: maybe(AuditTrail),
  },
  tables,
  migrations,
  services: {
    memory: singleton(ResellerMemory),
    scopes: singleton(Scopes),
    ledger: singleton(Ledger),
    own: singleton(OwnClients),
    store: singleton(ResellerStore),
    ownership: singleton(Ownership),
    views: singleton(OwnViews),
  },
  taps: ({ ownership }) => [tap(duringClientSave, (saved, tx) => ownership.follow(tx, saved))],
  routes: (scope) => [...ownRoutes(scope), ...adminRoutes(scope)],
  start: ({ ownership }) => ownership.start(),
});
