// Foretells what time will do to clients and inbounds until a moment: who is cut, renewed and reset.
import { type Clock, int, list, oneOf, shape, type Static, TimeSlice, word } from '../../kernel/index.js';
import type { ClientsApi } from '../clients/contract.js';
import { type Inbound, inboundDepletion, type InboundsApi } from '../inbounds/contract.js';
import { panelSettings, type SettingsApi, timeZoneOf } from '../settings/contract.js';
import { DAY_MS, periodStart, type Schedule } from './calendar.js';
import { errors } from './errors.js';
import { type Outcome, outlook } from './outlook.js';

export const MOST_DAYS_AHEAD = 92;
/** Entries of each list; the counts are exact. */
const MOST_ENTRIES = 1000;

const outcome = () => oneOf('cut', 'renewed', 'reset');
const what = { what: outcome(), at: int().min(0), times: int().min(1) };
const counts = () => shape({ cut: int().min(0), renewed: int().min(0), reset: int().min(0) });
export const PreviewReply = shape({
  from: int().min(0),
  until: int().min(0),
  counts: shape({ clients: counts(), inbounds: counts() }),
  clients: list(shape({ email: word(), ...what })),
  inbounds: list(shape({ id: int(), tag: word(), ...what })),
});
export type PreviewReply = Static<typeof PreviewReply>;

/** The earliest entries, and how many there are of each kind. */
class Entries<T extends { readonly what: Outcome; readonly at: number }> {
  readonly counts = { cut: 0, renewed: 0, reset: 0 };
  #entries: T[] = [];

  add(entry: T): void {
    this.counts[entry.what]++;
    this.#entries.push(entry);
    // Sorted now and then: 300,000 entries would stay in memory otherwise.
    if (this.#entries.length >= 4 * MOST_ENTRIES) this.#entries = this.first();
  }
  first(): T[] {
    return this.#entries.sort((a, b) => a.at - b.at).slice(0, MOST_ENTRIES);
  }
}

export class Preview {
  readonly #clock: Clock;
  readonly #clients: ClientsApi;
  readonly #inbounds: InboundsApi;
  readonly #settings: SettingsApi;

  constructor(needs: { clock: Clock; clients: ClientsApi; inbounds: InboundsApi; settings: SettingsApi }) {
    this.#clock = needs.clock;
    this.#clients = needs.clients;
    this.#inbounds = needs.inbounds;
    this.#settings = needs.settings;
  }

  /** Throws UNTIL_OUT_OF_RANGE. Yields: it may concern every client. */
  async until(until: number): Promise<PreviewReply> {
    const now = this.#clock.now();
    if (until <= now || until > now + MOST_DAYS_AHEAD * DAY_MS)
      throw errors.UNTIL_OUT_OF_RANGE(
        `until must be a moment (Unix ms) of the next ${MOST_DAYS_AHEAD} days`,
        { path: 'until' },
      );
    const slice = new TimeSlice();
    const zone = timeZoneOf(this.#settings.read(panelSettings).timeLocation);
    const periods = new Periods(now, until, zone);
    const inbounds = new Entries<PreviewReply['inbounds'][number]>();
    const inboundResets = new Map<number, number>();
    for (const inbound of this.#inbounds.list()) {
      if (slice.isOver) await slice.next();
      const { id, tag, expiryTime } = inbound;
      const resets = periods.starts(inbound);
      const [first] = resets;
      if (first !== undefined) {
        inboundResets.set(id, first);
        inbounds.add({ id, tag, what: 'reset', at: first, times: resets.length });
      }
      if (this.#isCut(inbound, first, until))
        inbounds.add({ id, tag, what: 'cut', at: Math.max(expiryTime, now), times: 1 });
    }
    const clients = new Entries<PreviewReply['clients'][number]>();
    const window = {
      now,
      until,
      zone,
      starts: (of: Counting) => periods.starts(of),
      inboundReset: (id: number) => inboundResets.get(id),
    };
    // A copy: clients come and go while this yields.
    for (const row of [...this.#clients.all()]) {
      if (slice.isOver) await slice.next();
      const seen = new Map<Outcome, { email: string; what: Outcome; at: number; times: number }>();
      outlook(row, window, (what, at) => {
        const entry = seen.get(what);
        if (entry) entry.times++;
        else seen.set(what, { email: row.email, what, at, times: 1 });
      });
      for (const entry of seen.values()) clients.add(entry);
    }
    return {
      from: now,
      until,
      counts: { clients: clients.counts, inbounds: inbounds.counts },
      clients: clients.first(),
      inbounds: inbounds.first(),
    };
  }

  /** Of time alone: one that its quota disabled is cut only if a reset enables it before. */
  #isCut(inbound: Inbound, firstReset: number | undefined, until: number): boolean {
    const { enable, depletedCause, expiryTime } = inbound;
    if (expiryTime <= 0 || expiryTime > until) return false;
    if (enable) return inboundDepletion(inbound, this.#inbounds.usage(inbound.id), expiryTime) === 'expiry';
    return depletedCause === 'quota' && firstReset !== undefined && firstReset < expiryTime;
  }
}

interface Counting {
  readonly trafficReset: Schedule;
  readonly trafficResetDay: number;
  readonly countedSince: number;
}

/** The starts of periods within a window, found once for each schedule. */
class Periods {
  readonly #known = new Map<string, { readonly present: number; readonly later: readonly number[] }>();
  readonly #now: number;
  readonly #until: number;
  readonly #zone: string | undefined;

  constructor(now: number, until: number, zone: string | undefined) {
    this.#now = now;
    this.#until = until;
    this.#zone = zone;
  }

  starts({ trafficReset: schedule, trafficResetDay: day, countedSince }: Counting): readonly number[] {
    if (schedule === 'never') return [];
    const { present, later } = this.#of(schedule, schedule === 'monthly' ? day : 1);
    return present > countedSince ? [this.#now, ...later] : later;
  }

  #of(schedule: Exclude<Schedule, 'never'>, day: number) {
    const key = `${schedule} ${day}`;
    const known = this.#known.get(key);
    if (known) return known;
    const startBefore = (at: number): number => periodStart(schedule, day, at, this.#zone);
    const later: number[] = [];
    let start = startBefore(this.#until);
    for (; start > this.#now; start = startBefore(start - 1)) later.unshift(start);
    const found = { present: start, later };
    this.#known.set(key, found);
    return found;
  }
}
