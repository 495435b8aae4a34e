// Decides which addresses over a `limitIp` are banned: as few as possible, and none of somebody else.
import { banAddress } from './target.js';

export interface OverAddress {
  readonly ip: string;
  /** Unix ms */
  readonly lastSeen: number;
  readonly isPeer: boolean;
}
/** A client over its limit. */
export interface OverLimit {
  readonly id: number;
  readonly email: string;
  /** addresses within the limit */
  readonly kept: readonly string[];
  readonly over: readonly OverAddress[];
  /** whether one of its inbounds takes addresses that a sender can forge */
  readonly isForgeable: boolean;
}
/** What a decision needs to know. */
export interface Surroundings {
  /** Why an address is never banned; blank if it may be. */
  protection(address: string): '' | 'private' | 'listed' | 'admin';
  /** Emails of other enabled clients that were seen there within the last half hour. */
  sharedWith(address: string, clientId: number): readonly string[];
  /** Unix ms of the end of the present or last ban; 0 without one. */
  bannedUntil(address: string): number;
}

export type SpareReason = 'private' | 'listed' | 'admin' | 'shared' | 'claimed';
export interface Spared {
  readonly clientId: number;
  readonly email: string;
  readonly address: string;
  readonly reason: SpareReason;
  /** the other clients at a shared address */
  readonly sharedWith: readonly string[];
}
export interface Decided {
  readonly clientId: number;
  readonly email: string;
  readonly address: string;
}

/** Returns whom to ban, each address once, and who is spared and why. */
export function decide(
  clients: readonly OverLimit[],
  around: Surroundings,
): { readonly bans: readonly Decided[]; readonly spared: readonly Spared[] } {
  const bans = new Map<string, Decided>();
  const spared: Spared[] = [];
  for (const { id: clientId, email, kept, over, isForgeable } of clients) {
    const within = new Set(kept.map(banAddress));
    for (const { ip, lastSeen, isPeer } of over) {
      const address = banAddress(ip);
      // Of one network, one address can be over the limit and another within it only by a mistake.
      if (address === undefined || within.has(address) || bans.has(address)) continue;
      // It is banned, or was not seen since: what is still open was opened before.
      if (lastSeen <= around.bannedUntil(address)) continue;
      const sharedWith = around.sharedWith(address, clientId);
      const reason =
        around.protection(address) ||
        (sharedWith.length > 0 ? 'shared' : isPeer && !isForgeable ? undefined : 'claimed');
      if (reason === undefined) bans.set(address, { clientId, email, address });
      else spared.push({ clientId, email, address, reason, sharedWith });
    }
  }
  // Two clients that go over their limits at one address at once share it.
  return { bans: [...bans.values()], spared };
}
