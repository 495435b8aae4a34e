// What changed among the addresses since a position, for plugins that tell other machines. Nothing is kept before the first
// of them asks.
import type { Clock } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { RECENT_MS, type Sighting, type Sightings } from './sightings.js';

/** A time that moved on is told again after so long: a place of `limitIp` is kept for two minutes. */
const LIMITED_EVERY_MS = 30_000;
const EVERY_MS = 5 * 60_000;

export interface SeenAddress {
  readonly clientId: number;
  /** guid of the panel that saw it; blank for this one */
  readonly panel: string;
  readonly address: string;
  /** Unix ms */
  readonly lastSeen: number;
  /** Unix ms of the beginning of its present use */
  readonly since: number;
}
export interface AddressChanges {
  /** the next `after` */
  readonly seq: number;
  readonly seen: readonly SeenAddress[];
  /** there is more after `seq` */
  readonly more: boolean;
}
interface Entry {
  readonly seq: number;
  readonly sighting: Sighting;
  /** `lastSeen` when it was entered */
  readonly told: number;
}

export class AddressFeed {
  readonly #clock: Clock;
  readonly #clients: Pick<ClientsApi, 'byId'>;
  readonly #sightings: Sightings;
  #seq = 0;
  /** What was there before the first question, as far as it is not entered yet: a pass over all would hold the event loop. */
  #before: Iterator<Sighting> | undefined;
  #isFollowing = false;
  /** by seq; an entry is over when its sighting has a later one */
  #entries: Entry[] = [];
  readonly #latest = new WeakMap<Sighting, Entry>();

  constructor({
    clock,
    clients,
    sightings,
  }: { clock: Clock; clients: Pick<ClientsApi, 'byId'>; sightings: Sightings }) {
    this.#clock = clock;
    this.#clients = clients;
    this.#sightings = sightings;
  }

  /** Looks at no more than `most` entries. A position beyond the last one is not of this process: all are told. */
  readonly changes = (after: number, most: number): AddressChanges => {
    this.#follow();
    const from = this.#indexAfter(after > this.#seq ? 0 : after);
    this.#enterMore(from + most - this.#entries.length);
    const seen: SeenAddress[] = [];
    const since = this.#clock.now() - RECENT_MS;
    const page = this.#entries.slice(from, from + most);
    for (const { seq, sighting } of page) {
      if (this.#latest.get(sighting)?.seq !== seq) continue;
      if (sighting.lastSeen <= since || !this.#sightings.has(sighting)) continue;
      const { clientId, panel, address, lastSeen, since: begin } = sighting;
      seen.push({ clientId, panel, address, lastSeen, since: begin });
    }
    const more = from + page.length < this.#entries.length || this.#before !== undefined;
    return { seq: more ? (page.at(-1)?.seq ?? after) : this.#seq, seen, more };
  };

  #follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#before = this.#known();
    this.#sightings.follow((sighting) => this.#noted(sighting));
  }

  *#known(): Generator<Sighting> {
    for (const id of this.#sightings.clients()) yield* this.#sightings.of(id);
  }

  #enterMore(most: number): void {
    for (let i = 0; i < most && this.#before; i++) {
      const { value, done } = this.#before.next() as IteratorResult<Sighting, undefined>;
      if (done) this.#before = undefined;
      else if (!this.#latest.has(value)) this.#enter(value);
    }
  }

  #noted(sighting: Sighting): void {
    const told = this.#latest.get(sighting)?.told;
    const every = (this.#clients.byId(sighting.clientId)?.limitIp ?? 0) > 0 ? LIMITED_EVERY_MS : EVERY_MS;
    if (told === undefined || Math.abs(sighting.lastSeen - told) >= every) this.#enter(sighting);
  }

  #enter(sighting: Sighting): void {
    const entry = { seq: ++this.#seq, sighting, told: sighting.lastSeen };
    this.#latest.set(sighting, entry);
    this.#entries.push(entry);
    if (this.#entries.length <= 2 * this.#sightings.size + 1000) return;
    this.#entries = this.#entries.filter(
      (one) => this.#latest.get(one.sighting) === one && this.#sightings.has(one.sighting),
    );
  }

  #indexAfter(seq: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
