// The peers that a device has, by client and by key.
import { TimeSlice } from '../../kernel/index.js';
import type { UserRef } from '../engine/contract.js';
import type { SidecarUser, UserCounters } from '../sidecars/contract.js';
import type { DeviceState } from './device-state.js';
import { type Peer, peerOf } from './peers.js';

export class PeerBook {
  readonly #byClient = new Map<number, Peer>();
  readonly #byKey = new Map<string, Peer>();
  /** those of them with forwarded ports, which are few */
  readonly #forwarding = new Map<number, Peer>();

  ofClient(clientId: number): Peer | undefined {
    return this.#byClient.get(clientId);
  }
  ofKey(publicKey: string): Peer | undefined {
    return this.#byKey.get(publicKey);
  }
  all(): readonly Peer[] {
    return [...this.#byClient.values()];
  }
  forwarding(): Iterable<Peer> {
    return this.#forwarding.values();
  }

  /** Knows whose key it is, without saying that the device has it. */
  expect(peer: Peer): void {
    this.#byKey.set(peer.publicKey, peer);
  }
  add(peer: Peer): void {
    this.remove(this.#byClient.get(peer.user.clientId));
    this.#byClient.set(peer.user.clientId, peer);
    this.#byKey.set(peer.publicKey, peer);
    if (peer.forwardedPorts !== '') this.#forwarding.set(peer.user.clientId, peer);
  }
  remove(peer: Peer | undefined): void {
    if (!peer) return;
    const { clientId } = peer.user;
    if (this.#byClient.get(clientId) === peer) this.#byClient.delete(clientId);
    if (this.#forwarding.get(clientId) === peer) this.#forwarding.delete(clientId);
    if (this.#byKey.get(peer.publicKey) === peer) this.#byKey.delete(peer.publicKey);
  }
}

/** A book of users that may be in a device. */
export function bookOf(users: Iterable<SidecarUser>): PeerBook {
  const book = new PeerBook();
  for (const user of users) {
    const peer = peerOf(user);
    if (peer) book.expect(peer);
  }
  return book;
}

/** Returns the counters of the peers that the book knows. `seen` is called with the handshake of each. */
export async function countersOf(
  { peers }: DeviceState,
  book: PeerBook,
  seen: (user: UserRef, handshake: number) => void = () => {},
): Promise<UserCounters[]> {
  const counters: UserCounters[] = [];
  const slice = new TimeSlice();
  for (const { publicKey, received: up, sent: down, handshake } of peers.values()) {
    if (slice.isOver) await slice.next();
    const user = book.ofKey(publicKey)?.user;
    if (!user) continue;
    const { inboundId, clientId } = user;
    counters.push({ inboundId, clientId, up, down });
    seen(user, handshake);
  }
  return counters;
}
