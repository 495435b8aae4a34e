// Calls that may be repeated without harm: one plugin keeps what was answered under a key of the caller's.
import { token } from '../container/token.js';
import type { Route } from './route.js';

/** Provided by the plugin `idempotency`; without it a route with `idempotent: true` is served like any other. */
export interface Replays {
  /** Handles a call: once for each key of its caller, and as the first call was answered where the key comes again. */
  handle(route: Route, input: never): unknown;
}
export const Replays = token<Replays>('idempotency', 'Replays');
