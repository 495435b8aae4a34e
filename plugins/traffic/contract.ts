// Counting: what others can hear of it and have a say in.
import { event, filter, token } from '../../kernel/index.js';
import type { ClientUsage } from '../clients/contract.js';

/** Who moved bytes within the last 20 seconds, in memory; nobody while no core runs. */
export interface PresenceApi {
  isOnline(clientId: number): boolean;
  /** Ids of the clients that are online. */
  online(): readonly number[];
  /** Ids of the inbounds that moved bytes. */
  activeInbounds(): readonly number[];
}
export const Presence = token<PresenceApi>('traffic', 'Presence');

/** The bytes of one poll before they are written: multipliers and exceptions. Synchronous, it lies on the hot path. */
export const trafficDeltas = filter<readonly ClientUsage[], { readonly at: number }>('traffic/trafficDeltas');
/** Clients about to be switched off at their limit; who is taken out goes on until the next poll. */
export const depletionCandidates = filter<
  readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
  { readonly at: number }
>('traffic/depletionCandidates');
/** After every poll that the core answered; `usage` is empty when nobody moved anything. */
export const trafficCounted = event<{ readonly at: number; readonly usage: readonly ClientUsage[] }>(
  'traffic/trafficCounted',
);
/** A poll switched clients off at a limit; one batch for each poll. Who is created or edited beyond a limit is off at once and not among them: `clients/clientChanged`. */
export const clientDepleted = event<{
  readonly clients: readonly {
    readonly id: number;
    readonly email: string;
    readonly cause: 'quota' | 'expiry';
    readonly inboundIds: readonly number[];
  }[];
}>('traffic/clientDepleted');
/** Inbounds that were switched off at their own limit. */
export const inboundDepleted = event<{
  readonly inbounds: readonly {
    readonly id: number;
    readonly tag: string;
    readonly cause: 'quota' | 'expiry';
  }[];
}>('traffic/inboundDepleted');
/** A period of `trafficReset` is over: these inbounds and all their clients have used nothing from here on. */
export const trafficReset = event<{ readonly at: number; readonly inboundIds: readonly number[] }>(
  'traffic/trafficReset',
);
