// The peers that a device has, by client and by key.
import type { Peer } from './peers.js';

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
