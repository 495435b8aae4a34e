// Counting: what others can hear of it and have a say in.
import { event, filter } from '../../kernel/index.js';
import type { ClientUsage } from '../clients/contract.js';

/** The bytes of one poll before they are written: multipliers and exceptions. Synchronous, it lies on the hot path. */
export const trafficDeltas = filter<readonly ClientUsage[], { readonly at: number }>('traffic/trafficDeltas');
/** Clients about to be switched off at their limit; who is taken out goes on until the next poll. */
export const depletionCandidates = filter<readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[], { readonly at: number }>('traffic/depletionCandidates');
export const trafficCounted = event<{ readonly at: number; readonly usage: readonly ClientUsage[] }>('traffic/trafficCounted');
export const clientDepleted = event<{ readonly clients: readonly { readonly id: number; readonly email: string; readonly cause: 'quota' | 'expiry'; readonly inboundIds: readonly number[] }[] }>('traffic/clientDepleted');
