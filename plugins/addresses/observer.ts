// Receives the connections that the core accepts.
import { canonicalAddress, type Clock, type ListenersApi, type LiveSettings } from '../../kernel/index.js';
import type { AcceptedPeer, CoreAccessApi } from '../engine/contract.js';
import type { AddressLimit } from './limit.js';
import { ListedNetworks } from './networks.js';
import type { addressSettings } from './settings.js';
import type { Sightings } from './sightings.js';

export class Observer {
  readonly #clock: Clock;
  readonly #access: Pick<CoreAccessApi, 'follow' | 'catchUp'> | undefined;
  readonly #listeners: Pick<ListenersApi, 'proxies'>;
  readonly #settings: Pick<LiveSettings<typeof addressSettings>, 'read'>;
  readonly #sightings: Sightings;
  readonly #limit: AddressLimit;
  readonly #ignored = new ListedNetworks();
  #unfollow: () => void = () => undefined;

  constructor({
    clock,
    access,
    listeners,
    settings,
    sightings,
    limit,
  }: {
    clock: Clock;
    access: Pick<CoreAccessApi, 'follow' | 'catchUp'> | undefined;
    listeners: Pick<ListenersApi, 'proxies'>;
    settings: Pick<LiveSettings<typeof addressSettings>, 'read'>;
    sightings: Sightings;
    limit: AddressLimit;
  }) {
    this.#clock = clock;
    this.#access = access;
    this.#listeners = listeners;
    this.#settings = settings;
    this.#sightings = sightings;
    this.#limit = limit;
  }

  start(): void {
    this.#unfollow = this.#access?.follow((accepted) => this.#onAccepted(accepted)) ?? this.#unfollow;
  }
  async stop(): Promise<void> {
    this.#unfollow();
    await this.#limit.settled();
  }

  /** Resolves when all lines that the core has written by now are taken in, so that a reply shows them. */
  async catchUp(): Promise<void> {
    await this.#access?.catchUp();
  }

  /** Whether an address says nothing of a client: that of a proxy or tunnel in front of the core. */
  isIgnored(address: string): boolean {
    const { addressesIgnored } = this.#settings.read();
    return this.#ignored.has(addressesIgnored, address) || this.#listeners.proxies.trusts(address);
  }

  #onAccepted(accepted: readonly AcceptedPeer[]): void {
    const now = this.#clock.now();
    const seen = new Set<number>();
    for (const { clientId, address: ip, at = now, port } of accepted) {
      const address = canonicalAddress(ip);
      if (address === undefined || this.isIgnored(address)) continue;
      // A proxy that reports an address names no port.
      if (this.#sightings.note(clientId, address, at, '', port > 0) !== undefined) seen.add(clientId);
    }
    if (seen.size > 0) void this.#limit.seen(seen);
  }
}
