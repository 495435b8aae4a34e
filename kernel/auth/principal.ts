// The identity behind a request or a change.
import { choose } from '../hooks/kinds.js';
import { optional, shape, word } from '../../schema/shape.js';

/** The author of a change: an authenticated caller, a command, or a plugin on its own account. */
export interface Principal {
  /** name of the admin, the API token, the command or the plugin */
  readonly name: string;
  /** the kind of `name`; plugins that tap `authenticate` may use kinds of their own */
  readonly kind: 'session' | 'token' | 'command' | 'plugin' | 'anyone' | (string & {});
  /** digest of the session id, to revoke the session; only for the kind `session` */
  readonly session?: string;
  /** address of the caller; absent where no request asked */
  readonly ip?: string;
}

/** A caller without authentication. */
export const ANYONE: Principal = Object.freeze({ name: '', kind: 'anyone' });

export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookies: Readonly<Record<string, string>>;
  readonly ip: string;
  /** its `url` is a path of a route, without the base path */
  readonly request: import('node:http').IncomingMessage;
}

/** Called for every request that carries a bearer token or no valid session. A tap throws a 401 PanelError to refuse at once. */
export const authenticate = choose<Credentials, Principal>(
  'kernel/authenticate',
  shape({ name: word(), kind: word(), session: optional(word()) }),
);
