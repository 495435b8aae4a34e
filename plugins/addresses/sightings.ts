// From where clients connected within the last half hour, in memory. The database follows it in batches.
import { canonicalAddress, type Clock, networkOf } from '../../kernel/index.js';
import { NetworkIndex } from './network-index.js';

export const RECENT_MS = 30 * 60_000;
/** An address is live for this long after its last connection began, and while one is open. */
export const LIVE_MS = 120_000;
/** A known address is written again when its time in the database is this old. */
const WRITTEN_EVERY_MS = 5 * 60_000;
const MOST_OF_CLIENT = 64;
/** Of these, by one other panel: it may tell what it likes, and others keep theirs. */
const MOST_OF_PANEL = 32;
const MOST_CLIENTS = 100_000;
/** Of all clients, about 180 MB: another panel may report as many as it likes. */
const MOST_IN_ALL = 500_000;

/** The panel of what other panels post without saying who saw it. */
export const ELSEWHERE = 'elsewhere';

export interface Sighting {
  readonly clientId: number;
  /** guid of the panel that saw it; blank for this one */
  readonly panel: string;
  readonly network: string;
  /** the latest of the network */
  address: string;
  readonly firstSeen: number;
  lastSeen: number;
  /** begin of its present use; who came first keeps the place */
  since: number;
  /** `lastSeen` in the database; 0 for none */
  written: number;
  /** `lastSeen` when it was last reported as over the limit */
  reported: number;
  /** whether it was the peer of a connection, and not only claimed by a header; not stored */
  isPeer: boolean;
}
export type SeenRow = Pick<Sighting, 'clientId' | 'panel' | 'network' | 'address' | 'firstSeen' | 'lastSeen'>;

/** After the clock was set back; otherwise an address that was left would take a place until the clock is there again. */
function setBack(sighting: Sighting, now: number): void {
  for (const time of ['lastSeen', 'since', 'written', 'reported'] as const)
    sighting[time] = Math.min(sighting[time], now);
}

const keyOfEnd = (clientId: number, network: string): string => `${clientId} ${network}`;

export class Sightings {
  readonly #clock: Clock;
  readonly #most: number;
  #size = 0;
  /** by client, the latest last; by panel and network within */
  readonly #clients = new Map<number, Map<string, Sighting>>();
  readonly #index = new NetworkIndex();
  /** Unix ms from which a connection begins a new use, by client and network; also before lines of the log that come late */
  readonly #ends = new Map<string, number>();
  #follower: ((sighting: Sighting) => void) | undefined;
  #unwritten = new Set<Sighting>();

  constructor({ clock }: { clock: Clock }, most = MOST_IN_ALL) {
    this.#clock = clock;
    this.#most = most;
  }

  /** number of sightings of all clients */
  get size(): number {
    return this.#size;
  }

  /** `listener` is called with each sighting that is noted. */
  follow(listener: (sighting: Sighting) => void): void {
    this.#follower = listener;
  }

  /** Returns the canonical address; undefined for what is not an address. Times in the future count as now. `begun`: of its present use, where another panel knows it. */
  note(
    clientId: number,
    ip: string,
    at: number,
    panel = '',
    isPeer = false,
    begun?: number,
  ): string | undefined {
    const address = canonicalAddress(ip);
    if (address === undefined) return undefined;
    const now = this.#clock.now();
    const seen = at > 0 && at < now ? at : now;
    if (seen <= now - RECENT_MS) return undefined;
    const network = networkOf(address);
    const own = this.#clients.get(clientId) ?? new Map<string, Sighting>();
    const key = `${panel} ${network}`;
    const known = own.get(key);
    if (known) {
      known.isPeer ||= isPeer;
      if (seen < known.lastSeen) return address;
      // Without a line in the log, what is open may have been opened before.
      const isNewUse = isPeer && seen >= (this.#ends.get(keyOfEnd(clientId, network)) ?? Infinity);
      if (isNewUse) this.#ends.delete(keyOfEnd(clientId, network));
      if (begun !== undefined) known.since = beginOf(begun, seen);
      else if (isNewUse || seen - known.lastSeen > LIVE_MS) known.since = seen;
      known.address = address;
      known.lastSeen = seen;
      if (seen - known.written >= WRITTEN_EVERY_MS) this.#unwritten.add(known);
      this.#follower?.(known);
    } else {
      const added: Sighting = {
        clientId,
        panel,
        network,
        address,
        firstSeen: seen,
        lastSeen: seen,
        since: begun === undefined ? seen : beginOf(begun, seen),
        written: 0,
        reported: 0,
        isPeer,
      };
      own.set(key, added);
      this.#index.add(added);
      this.#size++;
      this.#unwritten.add(added);
      if (panel !== '' && panel !== ELSEWHERE) this.#keepMostOf(own, panel);
      if (own.size > MOST_OF_CLIENT) this.#forgetOldest(own, own.values());
      this.#follower?.(added);
    }
    this.#clients.delete(clientId);
    this.#clients.set(clientId, own);
    // The client that was seen the longest time ago.
    if (this.#clients.size > MOST_CLIENTS || this.#size > this.#most)
      this.forgetClient(this.#clients.keys().next().value as number);
    return address;
  }

  /** The next connection in the log, from `at` on, is the first of a new use. */
  endUse(clientId: number, network: string, at: number): void {
    // The core's log knows seconds.
    this.#ends.set(keyOfEnd(clientId, network), Math.floor(at / 1000) * 1000);
  }
  /** Of all clients, within a network. */
  at(network: string): Iterable<Sighting> {
    return this.#index.at(network);
  }
  of(clientId: number): readonly Sighting[] {
    return [...(this.#clients.get(clientId)?.values() ?? [])];
  }
  has(sighting: Sighting): boolean {
    const { clientId, panel, network } = sighting;
    return this.#clients.get(clientId)?.get(`${panel} ${network}`) === sighting;
  }
  /** Ids of clients with sightings. */
  clients(): IterableIterator<number> {
    return this.#clients.keys();
  }

  /** Takes a row of the database into memory, at the start. */
  restore(row: SeenRow): void {
    const own = this.#clients.get(row.clientId) ?? new Map<string, Sighting>();
    if (own.size >= MOST_OF_CLIENT || this.#size >= this.#most) return;
    if (own.size === 0 && this.#clients.size >= MOST_CLIENTS) return;
    const key = `${row.panel} ${row.network}`;
    const before = own.get(key);
    if (before) this.#index.remove(before);
    else this.#size++;
    this.#clients.set(row.clientId, own);
    const restored = {
      ...row,
      since: row.firstSeen,
      written: row.lastSeen,
      reported: 0,
      isPeer: false,
    };
    own.set(key, restored);
    this.#index.add(restored);
  }

  /** What is to be written. It is no longer unwritten: hand it back if that fails. */
  takeUnwritten(): Sighting[] {
    const taken = [...this.#unwritten];
    this.#unwritten = new Set();
    return taken;
  }
  handBack(sightings: readonly Sighting[]): void {
    for (const sighting of sightings) if (this.has(sighting)) this.#unwritten.add(sighting);
  }

  /** Marks what the database has not, and forgets what is old and written. */
  tidy(): void {
    const now = this.#clock.now();
    for (const [key, at] of this.#ends) if (at <= now - RECENT_MS) this.#ends.delete(key);
    for (const [clientId, own] of this.#clients) {
      for (const [key, sighting] of own) {
        if (sighting.lastSeen > now) setBack(sighting, now);
        if (sighting.lastSeen > sighting.written && sighting.lastSeen <= now - WRITTEN_EVERY_MS)
          this.#unwritten.add(sighting);
        if (sighting.lastSeen <= now - RECENT_MS && sighting.lastSeen === sighting.written) {
          own.delete(key);
          this.#index.remove(sighting);
          this.#size--;
        }
      }
      if (own.size === 0) this.#clients.delete(clientId);
    }
  }
  /** Everything that the database has not yet: before a stop. */
  markAll(): void {
    for (const own of this.#clients.values())
      for (const sighting of own.values())
        if (sighting.lastSeen > sighting.written) this.#unwritten.add(sighting);
  }

  forgetClient(clientId: number): void {
    const own = this.of(clientId);
    for (const sighting of own) {
      this.#unwritten.delete(sighting);
      this.#index.remove(sighting);
    }
    this.#size -= own.length;
    this.#clients.delete(clientId);
  }

  #keepMostOf(own: Map<string, Sighting>, panel: string): void {
    if (own.size <= MOST_OF_PANEL) return;
    const seen = [...own.values()].filter((one) => one.panel === panel);
    if (seen.length > MOST_OF_PANEL) this.#forgetOldest(own, seen);
  }

  #forgetOldest(own: Map<string, Sighting>, among: Iterable<Sighting>): void {
    const [oldest] = [...among].sort((a, b) => a.lastSeen - b.lastSeen);
    if (!oldest) return;
    own.delete(`${oldest.panel} ${oldest.network}`);
    this.#index.remove(oldest);
    this.#size--;
    this.#unwritten.delete(oldest);
  }
}

/** Within the time that is remembered, and not after it was seen. */
const beginOf = (begun: number, seen: number): number => Math.min(Math.max(begun, seen - RECENT_MS), seen);
