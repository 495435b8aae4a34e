// Who may use the panel: what other plugins can be present at.
import { event, guard } from '../../kernel/index.js';

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
