// Who is asking.
import { choose } from '../hooks/kinds.js';
import { optional, shape, word } from '../../schema/shape.js';

/** A caller that has proved who it is. */
export interface Principal {
  readonly name: string;
  readonly via: 'session' | 'bearer' | (string & {});
  /** the session's id digest, to revoke it; only for `via: 'session'` */
  readonly session?: string;
}

export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookies: Readonly<Record<string, string>>;
  readonly ip: string;
}

/** Asked for every request that carries an Authorization header or no valid session. A tap throws a 401 PanelError to refuse at once. */
export const authenticate = choose<Credentials, Principal>(
  'kernel/authenticate',
  shape({ name: word(), via: word(), session: optional(word()) }),
);
