// The traffic of outbounds: in memory, in the database, and what the database could not take yet.
import { type Database, type Log, type Principal, storageFailure, type Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { repeated } from '../cluster/contract.js';
import type { LiveOutput } from '../realtime/contract.js';
import type { OutboundBytes } from './contract.js';
import type { CoreReadings } from './core-readings.js';
import { type Moved, movedSince, type OutboundsReading, type Reading, sum } from './counting.js';
import { HeldReadings } from './held-readings.js';
import type { ByTag, Counted, CountedOutbound, OutboundRows } from './outbound-rows.js';

/** As the API shows it. */
export interface ShownOutbound {
  readonly id: number;
  readonly tag: string;
  readonly up: number;
  readonly down: number;
  readonly total: number;
}
/** Far more than a config has; an outbound beyond it is counted once there is room. */
const MOST_ROWS = 10_000;
const NOTHING = { up: 0, down: 0 } as const;
const NO_READING = { epoch: '', readUp: 0, readDown: 0 } as const;

const readingOf = (row: Counted | undefined): Reading | undefined =>
  row && { epoch: row.epoch, up: row.readUp, down: row.readDown };

interface Needs {
  readonly db: Database;
  readonly log: Log;
  readonly rows: OutboundRows;
  readonly readings: CoreReadings;
  readonly audit?: AuditTrailApi | undefined;
}

/** One call at a time. */
export class OutboundStore {
  readonly #db: Database;
  readonly #log: Log;
  readonly #mostRows: number;
  readonly #audit: AuditTrailApi | undefined;
  readonly #rows: OutboundRows;
  readonly #readings: CoreReadings;
  readonly #held = new HeldReadings();
  #isFull = false;
  /** What moved since the live stream took it. */
  readonly #moved = new Map<string, { readonly up: number; readonly down: number }>();
  /** of this, what is not written yet */
  #noted = new Map<string, { readonly up: number; readonly down: number }>();
  /** the live stream, where there is one */
  live: LiveOutput | undefined;

  /** @param mostRows less in tests */
  constructor({ db, log, rows, readings, audit }: Needs, mostRows = MOST_ROWS) {
    this.#audit = audit;
    this.#db = db;
    this.#log = log;
    this.#readings = readings;
    this.#mostRows = mostRows;
    this.#rows = rows;
  }

  /** Outbounds that have been counted, without those that an admin removed. */
  list(): CountedOutbound[] {
    return [...this.#rows.state.values()].filter(({ isRemoved }) => !isRemoved);
  }

  /** What is stored of an outbound. */
  counted(tag: string): OutboundBytes | undefined {
    return this.#rows.state.get(tag);
  }

  /** Adds what another panel counted. The reading stays, so that nothing counts twice. Rejects when the database fails. */
  async adopt(counts: readonly OutboundBytes[], who: Principal): Promise<void> {
    const { state } = this.#rows;
    let room = this.#mostRows - state.size;
    const taken = counts.filter(({ tag, up, down }) => {
      const before = state.get(tag);
      return before ? before.up + before.down < up + down : room-- > 0;
    });
    if (taken.length === 0) return;
    await this.#db.write(async (tx) => {
      const before = await this.#before(tx, taken);
      const after = taken.map(({ tag, up, down }) => {
        const row = before.get(tag) ?? { ...NOTHING, ...NO_READING };
        return { ...row, tag, up: sum(row.up, up), down: sum(row.down, down), isRemoved: false };
      });
      await this.#rows.save(tx, after);
      const changes = after.map(({ tag, up, down }) => {
        const row = before.get(tag);
        return {
          kind: row ? ('updated' as const) : ('added' as const),
          name: tag,
          before: row && { up: row.up, down: row.down },
          after: { up, down },
        };
      });
      await this.#audit?.record(tx, 'outboundTraffic', who, changes);
    });
    this.live?.send(() => this.shown());
  }

  /** What these outbounds have counted until this turn: memory may lack what another panel has just added. */
  async #before(tx: Tx, of: readonly { readonly tag: string }[]): Promise<ReadonlyMap<string, Counted>> {
    if (!this.#readings.areShared || of.length === 0) return this.#rows.state;
    const rows = await this.#rows.within(
      tx,
      of.map(({ tag }) => tag),
    );
    return new Map(rows.map((row) => [row.tag, row]));
  }

  shown(): ShownOutbound[] {
    return this.list().map(({ id, tag, up, down }) => ({
      id,
      tag,
      up,
      down,
      total: Math.min(up + down, Number.MAX_SAFE_INTEGER),
    }));
  }

  /** Adds what moved since the last reading, and what could not be written before. While the database fails, readings are kept for the next call. */
  async count(reading: OutboundsReading | undefined): Promise<void> {
    try {
      const add = () => this.#add(reading);
      // Other panels count at the same moments.
      if (await (this.#readings.areShared ? repeated(add) : add())) this.live?.send(() => this.shown());
      this.#held.clear();
      this.#noted.clear();
    } catch (error) {
      if (reading) this.#held.add(reading);
      // The kernel reports failures of the database.
      if (!storageFailure(error)) throw error;
    }
  }

  /** Resolves with whether anything was written. */
  async #add(reading: OutboundsReading | undefined): Promise<boolean> {
    const { state } = this.#rows;
    const readings = this.#held.before(reading);
    const epochs = readings.map(({ epoch }) => epoch);
    const found = movedSince(readings, (tag, epoch) =>
      this.#readings.last(tag, epoch, readingOf(state.get(tag))),
    );
    const moved = this.#withRoom(found, state);
    this.#noteMoved(moved);
    const gone = reading ? this.#gone(state, reading.epoch, moved) : [];
    // A commit whose answer was lost may be compared with readings of cores before once more.
    const over = reading && this.#held.isEmpty ? this.#readings.over(reading.epoch) : [];
    if (moved.length + gone.length + over.length === 0) return false;
    await this.#db.write(async (tx) => {
      const before = await this.#before(tx, moved);
      await this.#rows.save(
        tx,
        moved.map((one) => this.#after(before.get(one.tag), one, epochs)),
      );
      await this.#readings.save(tx, moved, { over, epochs });
      await this.#rows.delete(tx, gone);
    });
    return moved.length + gone.length > 0;
  }

  #after(row: Counted | undefined, { tag, up, down, reading }: Moved, epochs: readonly string[]): Counted {
    const total = { tag, up: sum(row?.up ?? 0, up), down: sum(row?.down ?? 0, down), isRemoved: false };
    if (!this.#readings.areShared)
      return { ...total, epoch: reading.epoch, readUp: reading.up, readDown: reading.down };
    // That of another core stays: its panel may not have counted it among several yet.
    if (!row || epochs.includes(row.epoch)) return { ...total, ...NO_READING };
    return { ...total, epoch: row.epoch, readUp: row.readUp, readDown: row.readDown };
  }

  /** Removed outbounds whose counters are gone, or have their reading elsewhere. */
  #gone(state: ByTag, epoch: string, moved: readonly Moved[]): CountedOutbound[] {
    const isOver = (row: Counted) => (this.#readings.areShared ? row.epoch === '' : row.epoch !== epoch);
    const gone = [...state.values()].filter((row) => row.isRemoved && isOver(row));
    return gone.filter((row) => !moved.some(({ tag }) => tag === row.tag));
  }

  #noteMoved(moved: readonly Moved[]): void {
    // Without the live stream nobody takes them.
    if (!this.live) return;
    for (const { tag, up, down } of moved) {
      const [now, noted] = [this.#moved.get(tag) ?? NOTHING, this.#noted.get(tag) ?? NOTHING];
      this.#moved.set(tag, {
        up: now.up + Math.max(0, up - noted.up),
        down: now.down + Math.max(0, down - noted.down),
      });
      this.#noted.set(tag, { up, down });
    }
  }

  /** Returns the bytes that moved since the previous call. */
  take(): { readonly tag: string; readonly up: number; readonly down: number }[] {
    const moved = [...this.#moved].map(([tag, bytes]) => ({ tag, ...bytes }));
    this.#moved.clear();
    return moved.filter(({ up, down }) => up + down > 0);
  }

  /** Without a row nothing is read: the bytes count once a row was removed, if their core still runs. */
  #withRoom(moved: readonly Moved[], state: ByTag): Moved[] {
    let room = this.#mostRows - state.size;
    const left = new Set(moved.filter(({ tag }) => !state.has(tag) && room-- <= 0));
    const [first] = left;
    if (first && !this.#isFull)
      this.#log.error('too many outbounds have been counted; remove those that no config has', {
        most: this.#mostRows,
        notCounted: left.size,
        first: first.tag.slice(0, 100),
        fix: 'POST /panel/api/x/outbound-traffic/prune',
      });
    this.#isFull = left.size > 0;
    return moved.filter((one) => !left.has(one));
  }

  /** Sets these to zero; their counters go on from the last reading. Rejects when the database fails. */
  reset(outbounds: readonly CountedOutbound[], who: Principal): Promise<void> {
    return this.#zero(outbounds, false, who);
  }

  /** Removes these. One whose counter still grows comes back with the bytes that it moves from now on. */
  remove(outbounds: readonly CountedOutbound[], who: Principal): Promise<void> {
    return this.#zero(outbounds, true, who);
  }

  async #zero(outbounds: readonly CountedOutbound[], isRemoved: boolean, who: Principal): Promise<void> {
    const zero = outbounds.map((row) => ({ ...row, up: 0, down: 0, isRemoved }));
    if (zero.length === 0) return;
    await this.#db.write(async (tx) => {
      await this.#rows.save(tx, zero);
      const changes = outbounds.map(({ tag, up, down }) => ({
        kind: isRemoved ? ('deleted' as const) : ('updated' as const),
        name: tag,
        before: { up, down },
        after: isRemoved ? undefined : { up: 0, down: 0 },
      }));
      await this.#audit?.record(tx, 'outboundTraffic', who, changes);
    });
    this.live?.send(() => this.shown());
  }

  /** Whether bytes wait that could not be written; a reset would not reach them. */
  get hasUnsaved(): boolean {
    return !this.#held.isEmpty;
  }
}
