// Traffic counting: who is online, and the hooks of a poll.
import { checkedList, during, event, filter, token } from '../../kernel/index.js';
import type { ClientUsage } from '../clients/contract.js';

export {
  Counting,
  type CountingApi,
  type CounterReading,
  type CounterSource,
  CounterSources,
} from './counter-sources.js';

export { namesByGuid } from './names-by-guid.js';
export {
  type PresenceOutput,
  type PresenceReporter,
  PresenceReporters,
  type ReportedUsers,
} from './reported-presence.js';

/** Clients that moved bytes within the last 20 seconds, in memory, here or through other machines; through the core none while it does not run. */
export interface PresenceApi {
  isOnline(clientId: number): boolean;
  /** Ids of the clients that are online. */
  online(): readonly number[];
  /** Ids of the inbounds that moved bytes. */
  activeInbounds(): readonly number[];
  /** The clients of `online`, by the guid of the panel that serves them; the own one is always there. */
  onlineByGuid(): ReadonlyMap<string, readonly number[]>;
  /** The inbounds of `activeInbounds`, in the same way. */
  activeInboundsByGuid(): ReadonlyMap<string, readonly number[]>;
}
export const Presence = token<PresenceApi>('traffic', 'Presence');

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const isAmount = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;
/** Far more than a panel has attachments of clients to inbounds. */
const MOST = 1_000_000;

function usageProblem(item: unknown): string | undefined {
  const { clientId, inboundId, up, down } = (item ?? {}) as Readonly<Record<keyof ClientUsage, unknown>>;
  if (!isId(clientId) || !isId(inboundId)) return 'clientId and inboundId must be ids';
  return isAmount(up) && isAmount(down)
    ? undefined
    : 'up and down must be numbers of bytes, finite and not below 0';
}

/** Changes the bytes of one poll before they are written: for multipliers and exceptions. Fractions are rounded; bytes of unknown clients and inbounds are rejected. */
export const trafficDeltas = filter<readonly ClientUsage[], { readonly at: number }>(
  'traffic/trafficDeltas',
  checkedList(MOST, usageProblem),
);
/** Runs in the transaction that stores the bytes of a poll, after `trafficDeltas`: what a tap writes with its `tx` counts each byte once. `usage` is never empty and has no deleted clients. Of a poll that could not be stored it is not called; the bytes come with the next one. */
export const duringTrafficCount = during<{ readonly at: number; readonly usage: readonly ClientUsage[] }>(
  'traffic/duringTrafficCount',
);
/** Clients about to be disabled at their limit; a client that is taken out stays enabled until the next poll. */
export const depletionCandidates = filter<
  readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
  { readonly at: number }
>(
  'traffic/depletionCandidates',
  checkedList(MOST, (item) => {
    const { id, cause } = (item ?? {}) as { readonly id?: unknown; readonly cause?: unknown };
    if (!isId(id)) return 'id must be that of a client';
    return cause === 'quota' || cause === 'expiry' ? undefined : 'cause must be quota or expiry';
  }),
);
/** Reports every poll that the core answered; `usage` is empty if no client moved bytes. */
export const trafficCounted = event<{ readonly at: number; readonly usage: readonly ClientUsage[] }>(
  'traffic/trafficCounted',
);
/** Reports, in the panel that leads, clients that any of several panels has counted since its last poll. Their bytes are in `trafficCounted` of the panel that counted them. */
export const countedInPanels = event<{ readonly clientIds: readonly number[] }>('traffic/countedInPanels');
/** Reports clients that a poll disabled at a limit; one batch for each poll. `clients/clientChanged` reports clients that are created or edited beyond a limit. */
export const clientDepleted = event<{
  readonly clients: readonly {
    readonly id: number;
    readonly email: string;
    readonly cause: 'quota' | 'expiry';
    readonly inboundIds: readonly number[];
  }[];
}>('traffic/clientDepleted');
/** Reports clients whose time was over and that got the next period: their usage is zero, and no limit disables them any more. However many periods no panel ran, this is one renewal; `resetCount` counts each of them. */
export const clientRenewed = event<{
  readonly at: number;
  readonly clients: readonly {
    readonly id: number;
    readonly email: string;
    readonly inboundIds: readonly number[];
    /** Unix ms */
    readonly previousExpiryTime: number;
    readonly expiryTime: number;
    /** renewals of this client so far */
    readonly resetCount: number;
  }[];
}>('traffic/clientRenewed');
/** Reports the end of a period of the `trafficReset` of clients: their usage is zero. `trafficReset` reports those of inbounds. */
export const clientTrafficReset = event<{
  readonly at: number;
  readonly clients: readonly { readonly id: number; readonly email: string }[];
}>('traffic/clientTrafficReset');
/** Reports inbounds that were disabled at their own limit. */
export const inboundDepleted = event<{
  readonly inbounds: readonly {
    readonly id: number;
    readonly tag: string;
    readonly cause: 'quota' | 'expiry';
  }[];
}>('traffic/inboundDepleted');
/** Reports the end of a period of `trafficReset`: the usage of these inbounds and all their clients is zero. */
export const trafficReset = event<{ readonly at: number; readonly inboundIds: readonly number[] }>(
  'traffic/trafficReset',
);
