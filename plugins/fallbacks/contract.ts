// Fallbacks of inbounds, for plugins that follow their changes.
import { during, type Principal, token } from '../../kernel/index.js';
import type { Applied } from '../engine/contract.js';
import type { Fallback, SentFallback } from './schema.js';

export type { Fallback, SentFallback } from './schema.js';

/** Fallbacks, for plugins that bring them to the machine of their inbounds. */
export interface FallbacksApi {
  /** Whether inbounds of this protocol can have fallbacks. */
  isMaster(protocol: string): boolean;
  /** Those of an inbound, in order; from memory. */
  of(masterId: number): readonly Fallback[];
  /** Where another program of its machine reaches this inbound, as `dest`; empty for an unknown one. */
  destinationOf(inboundId: number): string;
  /** Ids of the inbounds with a fallback that leads to this one. */
  mastersOf(childId: number): readonly number[];
  /** Replaces all fallbacks of an inbound, with the checks of the API. Do not call it inside a write. */
  replace(masterId: number, fallbacks: readonly SentFallback[], who: Principal): Promise<Applied>;
}
export const Fallbacks = token<FallbacksApi>('fallbacks', 'Fallbacks');

export interface FallbackChange {
  /** the inbound that has them */
  readonly masterId: number;
  /** all of them, in order */
  readonly before: readonly Fallback[];
  /** without ids */
  readonly after: readonly Omit<Fallback, 'id'>[];
}
/** Runs in the transaction that replaces the fallbacks of an inbound. With an inbound they go without a call. */
export const duringFallbackSave = during<{
  readonly changes: readonly FallbackChange[];
  readonly who: Principal;
}>('fallbacks/duringFallbackSave');
