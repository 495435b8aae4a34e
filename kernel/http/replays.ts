// Calls that may be repeated safely: one plugin stores the reply under a key of the caller's.
import { token } from '../container/token.js';
import type { Route } from './route.js';

/** Provided by the plugin `idempotency`; without it a route with `idempotent: true` is served like any other. */
export interface Replays {
  /** Wraps a route so that it is handled once for each key of a caller; a repeated key gets the first reply. Throws where that is impossible. */
  repeatable(route: Route): Route;
}
export const Replays = token<Replays>('idempotency', 'Replays');
