// Admins of groups: their role shows, or lets them change, the clients of some groups only.
import { definePlugin, maybe, singleton } from '../../kernel/index.js';
import { CallerRights } from '../access/contract.js';
import { ClientPages, Clients, SettledEdits } from '../clients/contract.js';
import { Inbounds } from '../inbounds/contract.js';
import { GroupRoles } from '../roles/contract.js';
import { Subscription } from '../subscription/contract.js';
import { GroupClients } from './group-clients.js';
import { routes } from './routes.js';
import { GroupScopes } from './scope.js';
import { GroupViews } from './views.js';

export default definePlugin({
  name: 'group-roles',
  version: '0.1.0',
  api: 1,
  about: 'Admins whose role is about the clients of some groups only.',
  uses: {
    rights: CallerRights,
    roles: GroupRoles,
    clients: Clients,
    pages: ClientPages,
    settled: SettledEdits,
    inbounds: Inbounds,
    subscription: maybe(Subscription),
  },
  services: {
    scopes: singleton(GroupScopes),
    edits: singleton(GroupClients),
    views: singleton(GroupViews),
  },
  routes,
});
