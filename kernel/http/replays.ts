// Calls that may be repeated without harm: one plugin keeps what was answered under a key of the caller's.
import { token } from '../container/token.js';
import type { Route } from './route.js';

/** Provided by the plugin `idempotency`; without it a route with `idempotent: true` is served like any other. */
export interface Replays {
  /** The route, handled once for each key of a caller; where the key comes again it answers as the first time. Throws where that cannot be. */
  repeatable(route: Route): Route;
}
export const Replays = token<Replays>('idempotency', 'Replays');
