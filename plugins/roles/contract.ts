// Hooks of roles, and the roles that are about groups of clients, for other plugins.
import { during, type Principal, token, type Tx } from '../../kernel/index.js';
import type { Level } from './tables.js';

export interface RoleFacts {
  readonly id: number;
  readonly name: string;
  /** blank, `reseller` or `groups` */
  readonly kind: string;
  /** as `inbounds:read` */
  readonly permissions: readonly string[];
  /** names of groups of clients, of the kind `groups` only */
  readonly groups: readonly string[];
  /** blank, or `read` or `write` of the kind `groups` */
  readonly level: string;
}
export interface RoleChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: RoleFacts | undefined;
  readonly after: RoleFacts | undefined;
}
/** Runs in the transaction that adds, changes or deletes roles. Who has a role is in `duringAdminSave` and `duringTokenSave` of access. */
export const duringRoleSave = during<{
  readonly changes: readonly RoleChange[];
  readonly who: Principal;
}>('roles/duringRoleSave');

/** Whose clients the admins of a role see, and whether they change them. */
export interface GroupRole {
  readonly id: number;
  /** names of groups of clients, with their case */
  readonly groups: readonly string[];
  readonly level: Level;
}
/** The roles of the kind `groups`, for the plugin that serves their admins. */
export interface GroupRolesApi {
  /** Undefined where the role is gone or of another kind. */
  find(role: number): GroupRole | undefined;
  /** The same as the transaction sees it: memory may lack the write before it. */
  read(tx: Tx, role: number): Promise<GroupRole | undefined>;
}
export const GroupRoles = token<GroupRolesApi>('roles', 'GroupRoles');
