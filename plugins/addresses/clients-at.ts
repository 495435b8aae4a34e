// What other plugins may ask about an address.
import { canonicalAddress, type Clock, type LiveSettings, networkOf } from '../../kernel/index.js';
import type { AddressFeed } from './address-feed.js';
import type { ClientAddressesApi, ClientAtAddress } from './contract.js';
import { ListedNetworks } from './networks.js';
import type { Observer } from './observer.js';
import type { addressSettings } from './settings.js';
import { RECENT_MS, type Sightings } from './sightings.js';

export class ClientsAt implements ClientAddressesApi {
  readonly #clock: Clock;
  readonly #sightings: Sightings;
  readonly #observer: Pick<Observer, 'isIgnored'>;
  readonly #settings: Pick<LiveSettings<typeof addressSettings>, 'read'>;
  readonly changes: AddressFeed['changes'];
  readonly #allowed = new ListedNetworks();

  constructor(needs: {
    clock: Clock;
    sightings: Sightings;
    observer: Pick<Observer, 'isIgnored'>;
    settings: Pick<LiveSettings<typeof addressSettings>, 'read'>;
    feed: AddressFeed;
  }) {
    this.changes = needs.feed.changes;
    this.#clock = needs.clock;
    this.#sightings = needs.sightings;
    this.#observer = needs.observer;
    this.#settings = needs.settings;
  }

  at(text: string): readonly ClientAtAddress[] {
    const address = canonicalAddress(text);
    if (address === undefined) return [];
    const since = this.#clock.now() - RECENT_MS;
    const found = new Map<number, number>();
    for (const { clientId, lastSeen } of this.#sightings.at(networkOf(address)))
      if (lastSeen > since) found.set(clientId, Math.max(lastSeen, found.get(clientId) ?? 0));
    return [...found].map(([clientId, lastSeen]) => ({ clientId, lastSeen }));
  }

  endUse(clientId: number, text: string, at: number): void {
    const address = canonicalAddress(text);
    if (address !== undefined) this.#sightings.endUse(clientId, networkOf(address), at);
  }

  isSpared(address: string): boolean {
    return (
      this.#observer.isIgnored(address) || this.#allowed.has(this.#settings.read().ipLimitAllowlist, address)
    );
  }
}
