// Calls that may be repeated safely: one plugin stores the reply under a key of the caller's.
import { token } from '../container/token.js';
import type { Tx } from '../database/tx.js';
import type { RequestInfo, Route } from './route.js';

/** Provided by the plugin `idempotency`; without it a route with `idempotent: true` is served like any other. */
export interface Replays {
  /** Wraps a route so that it is handled once for each key of a caller; a repeated key gets the first reply. Throws where that is impossible. */
  repeatable(route: Route): Route;
  /** Called as the last step of each transaction. One of a call with a key is stored with its change, so no crash can come between them. */
  settle(tx: Tx): Promise<void>;
}
export const Replays = token<Replays>('idempotency', 'Replays');

/**
 * Does the work of a call that may be repeated after a crash: `once(input, (note) => service.add(body, who, note))`. Inside
 * its write, the work calls `note` with its result as it will be; a repetition gets that instead of working.
 */
export const once = async <T>(
  { note, noted }: Pick<RequestInfo, 'note' | 'noted'>,
  work: (note: RequestInfo['note']) => Promise<T>,
): Promise<T> => (noted === undefined ? work(note) : (noted as T));
