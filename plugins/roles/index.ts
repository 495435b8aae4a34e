// Roles: what admins and API tokens may do that are not to do everything. Who has which role is known by access.
import { contribute, definePlugin, Listeners, provide, singleton, tap } from '../../kernel/index.js';
import { CallerRights, RoleHolders, RoleRights } from '../access/contract.js';
import { AuditedHooks } from '../audit/contract.js';
import { duringGroupSave } from '../clients/contract.js';
import { duringRoleSave, GroupRoles } from './contract.js';
import { Permissions } from './permissions.js';
import { roles } from './recorded.js';
import { RoleStore } from './role-store.js';
import { routes } from './routes.js';
import { migrations, tables } from './tables.js';

export default definePlugin({
  name: 'roles',
  version: '0.1.0',
  api: 1,
  about: 'Roles: lists of permissions for admins and API tokens that may not do everything.',
  uses: { listeners: Listeners, rights: CallerRights, holders: RoleHolders },
  hooks: [duringRoleSave],
  tables,
  migrations,
  services: { store: singleton(RoleStore), permissions: singleton(Permissions) },
  provides: ({ store }) => [provide(GroupRoles, store.ofGroups)],
  taps: ({ store }) => [tap(duringGroupSave, (saved, tx) => store.follow(tx, saved))],
  contributes: ({ permissions }) => [contribute(RoleRights, permissions), contribute(AuditedHooks, roles)],
  routes,
});
