// Who may call what, beyond being logged in: one plugin says it of each route and of each WebSocket.
import { token } from '../container/token.js';
import type { Principal } from '../auth/principal.js';
import type { Route } from './route.js';

/** Throws a PanelError, 401 or 403, for a caller who may not call it now. Synchronous, and asked for each call. */
export type Permit = (who: Principal) => void;

/** Provided by the plugin `access`; without it everybody who is logged in may call everything. */
export interface Permits {
  /** Asked once for each route of a plugin; a WebSocket is a GET of its path. */
  of(plugin: string, call: Pick<Route, 'method' | 'path'>): Permit;
  /** Calls the listener whenever callers may have lost rights: open WebSockets are asked about again. */
  onChange(changed: () => void): void;
}
export const Permits = token<Permits>('access', 'Permits');
