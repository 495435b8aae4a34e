// Hooks of roles, for other plugins.
import { during, type Principal } from '../../kernel/index.js';

export interface RoleFacts {
  readonly id: number;
  readonly name: string;
  /** blank, or `reseller` */
  readonly kind: string;
  /** as `inbounds:read` */
  readonly permissions: readonly string[];
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
