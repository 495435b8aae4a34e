// Who is asking, or at work.
import { choose } from '../hooks/kinds.js';
import { optional, shape, word } from '../../schema/shape.js';

/** Who makes a change: a caller that has proved who it is, a command, or a plugin of its own accord. */
export interface Principal {
  /** of the admin, the API token, the command or the plugin */
  readonly name: string;
  /** what `name` names; plugins that tap `authenticate` have words of their own */
  readonly kind: 'session' | 'token' | 'command' | 'plugin' | 'anyone' | (string & {});
  /** the session's id digest, to revoke it; only of the kind `session` */
  readonly session?: string;
}

/** A caller who was not asked. */
export const ANYONE: Principal = Object.freeze({ name: '', kind: 'anyone' });

export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookies: Readonly<Record<string, string>>;
  readonly ip: string;
}

/** Asked for every request that carries an Authorization header or no valid session. A tap throws a 401 PanelError to refuse at once. */
export const authenticate = choose<Credentials, Principal>(
  'kernel/authenticate',
  shape({ name: word(), kind: word(), session: optional(word()) }),
);
