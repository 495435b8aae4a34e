// Who may use the panel: what other plugins can be present at.
import { during, event, guard, type Principal } from '../../kernel/index.js';

/** Before a login is checked; a tap refuses to keep an address out. */
export const beforeLogin = guard<{ readonly username: string; readonly ip: string }>('access/beforeLogin');
/** The `reason` of an attempt that was not even looked at, for there were too many before. */
export const BLOCKED = 'too many failed attempts';
/** After every attempt to log in; `reason` is empty when it worked. */
export const loginAttempted = event<{
  readonly attempts: readonly {
    readonly username: string;
    readonly ip: string;
    readonly ok: boolean;
    readonly reason: string;
  }[];
}>('access/loginAttempted');

/** A change of an admin sets a new password too; passwords and their hashes stay out. */
export interface AdminChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: { readonly username: string } | undefined;
  readonly after: { readonly username: string } | undefined;
}
/** In the transaction that adds, changes or deletes admins. */
export const duringAdminSave = during<{
  readonly changes: readonly AdminChange[];
  readonly who: Principal;
}>('access/duringAdminSave');

export interface TokenFacts {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  /** Unix ms; 0: never */
  readonly expiresAt: number;
}
export interface TokenChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: TokenFacts | undefined;
  readonly after: TokenFacts | undefined;
}
/** In the transaction that adds, switches or deletes API tokens; their texts and digests stay out. */
export const duringTokenSave = during<{
  readonly changes: readonly TokenChange[];
  readonly who: Principal;
}>('access/duringTokenSave');
