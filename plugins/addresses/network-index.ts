// Sightings by network: who else is behind an address. Nearly every network has one client, so only others get a set.
import type { Sighting } from './sightings.js';

export class NetworkIndex {
  readonly #networks = new Map<string, Sighting | Set<Sighting>>();

  add(sighting: Sighting): void {
    const there = this.#networks.get(sighting.network);
    if (there instanceof Set) there.add(sighting);
    else this.#networks.set(sighting.network, there ? new Set([there, sighting]) : sighting);
  }

  remove(sighting: Sighting): void {
    const there = this.#networks.get(sighting.network);
    if (there instanceof Set) there.delete(sighting);
    if (there === sighting || (there instanceof Set && there.size === 0))
      this.#networks.delete(sighting.network);
  }

  at(network: string): Iterable<Sighting> {
    const there = this.#networks.get(network);
    return there instanceof Set ? there : there ? [there] : [];
  }
}
