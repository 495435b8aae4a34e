// The traffic of outbounds: in memory, in the database, and what the database could not take yet.
import { createHash } from 'node:crypto';
import {
  type Database,
  type Log,
  type Principal,
  type Projection,
  storageFailure,
  type Tx,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { CoreCounters } from '../engine/contract.js';
import type { LiveOutput } from '../realtime/contract.js';
import type { OutboundBytes } from './contract.js';
import { afterReading, type Counted } from './counting.js';
import type { OutboundTables } from './tables.js';

export interface CountedOutbound extends Counted {
  readonly id: number;
}
/** As the API shows it. */
export interface ShownOutbound {
  readonly id: number;
  readonly tag: string;
  readonly up: number;
  readonly down: number;
  readonly total: number;
}
type ByTag = Map<string, CountedOutbound>;
type Change = { readonly saved: readonly CountedOutbound[] } | { readonly deleted: ReadonlySet<string> };

/** Far more than a config has; an outbound beyond it is counted once there is room. */
const MOST_ROWS = 10_000;
const COLUMNS = {
  hash: 'text',
  tag: 'text',
  up: 'integer',
  down: 'integer',
  epoch: 'text',
  read_up: 'integer',
  read_down: 'integer',
  is_removed: 'integer',
} as const;

const hashOf = (tag: string): string => createHash('sha256').update(tag).digest('hex');

interface Needs {
  readonly db: Database;
  readonly log: Log;
  readonly tables: OutboundTables;
  readonly audit?: AuditTrailApi | undefined;
}

/** One call at a time. */
export class OutboundStore {
  readonly #db: Database;
  readonly #log: Log;
  readonly #mostRows: number;
  readonly #audit: AuditTrailApi | undefined;
  readonly #memory: Projection<ByTag, Change>;
  /** What failed to be written, by tag; it includes what the database has. */
  readonly #unsaved = new Map<string, Counted>();
  #isFull = false;
  /** What moved since the live stream took it. */
  readonly #moved = new Map<string, { readonly up: number; readonly down: number }>();
  /** the live stream, where there is one */
  live: LiveOutput | undefined;

  /** @param mostRows less in tests */
  constructor({ db, log, tables, audit }: Needs, mostRows = MOST_ROWS) {
    this.#audit = audit;
    this.#db = db;
    this.#log = log;
    this.#mostRows = mostRows;
    this.#memory = db.projection<ByTag, Change>({
      load: async () =>
        new Map(
          (await tables.outbounds.findAll()).map((row) => {
            const { hash: _, isRemoved, ...outbound } = row.get();
            return [outbound.tag, { ...outbound, isRemoved: isRemoved !== 0 }];
          }),
        ),
      apply: (state, change) => {
        if ('saved' in change) for (const row of change.saved) state.set(row.tag, row);
        else for (const tag of change.deleted) state.delete(tag);
      },
    });
  }

  /** Outbounds that have been counted, without those that an admin removed. */
  list(): CountedOutbound[] {
    return [...this.#memory.state.values()].filter(({ isRemoved }) => !isRemoved);
  }

  counted(tag: string): OutboundBytes | undefined {
    return this.#unsaved.get(tag) ?? this.#memory.state.get(tag);
  }

  /** Adds what another panel counted. The reading stays, so that nothing counts twice. Rejects when the database fails. */
  async adopt(counts: readonly OutboundBytes[], who: Principal): Promise<void> {
    const { state } = this.#memory;
    let room = this.#mostRows - state.size;
    const rows = counts.flatMap((count): { before: Counted | undefined; after: Counted }[] => {
      const before = this.#unsaved.get(count.tag) ?? state.get(count.tag);
      if (before && before.up + before.down >= count.up + count.down) return [];
      if (!before && room-- <= 0) return [];
      const { up = 0, down = 0, epoch = '', readUp = 0, readDown = 0 } = before ?? {};
      const after = {
        tag: count.tag,
        up: Math.min(up + count.up, Number.MAX_SAFE_INTEGER),
        down: Math.min(down + count.down, Number.MAX_SAFE_INTEGER),
        epoch,
        readUp,
        readDown,
        isRemoved: false,
      };
      return [{ before, after }];
    });
    if (rows.length === 0) return;
    await this.#db.write(async (tx) => {
      await this.#save(
        tx,
        rows.map(({ after }) => after),
      );
      const changes = rows.map(({ before, after }) => ({
        kind: before ? ('updated' as const) : ('added' as const),
        name: after.tag,
        before: before && { up: before.up, down: before.down },
        after: { up: after.up, down: after.down },
      }));
      await this.#audit?.record(tx, 'outboundTraffic', who, changes);
    });
    for (const { after } of rows) this.#unsaved.delete(after.tag);
    this.live?.send(() => this.shown());
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

  /** Adds what moved since the last reading. While the database fails, this is kept for the next call. */
  async count(counters: Pick<CoreCounters, 'epoch' | 'outbounds'>): Promise<void> {
    const { state } = this.#memory;
    const known = (tag: string) => this.#unsaved.get(tag) ?? state.get(tag);
    const before = new Map<string, Counted | undefined>();
    for (const row of afterReading(counters, known)) {
      before.set(row.tag, known(row.tag));
      this.#unsaved.set(row.tag, row);
    }
    this.#leaveOutNew(state);
    for (const [tag, last] of before) this.#noteMoved(this.#unsaved.get(tag), last);
    const gone = [...state.values()].filter(
      ({ tag, isRemoved, epoch }) => isRemoved && epoch !== counters.epoch && !this.#unsaved.has(tag),
    );
    if (this.#unsaved.size + gone.length === 0) return;
    try {
      await this.#db.write(async (tx) => {
        await this.#save(tx, [...this.#unsaved.values()]);
        await this.#delete(tx, gone);
      });
      this.#unsaved.clear();
      this.live?.send(() => this.shown());
    } catch (error) {
      // The kernel reports failures of the database.
      if (!storageFailure(error)) throw error;
    }
  }

  #noteMoved(row: Counted | undefined, last: Counted | undefined): void {
    // Without the live stream nobody takes them.
    if (!row || !this.live) return;
    const { up, down } = this.#moved.get(row.tag) ?? { up: 0, down: 0 };
    this.#moved.set(row.tag, {
      up: up + row.up - (last?.up ?? 0),
      down: down + row.down - (last?.down ?? 0),
    });
  }

  /** Returns the bytes that moved since the previous call. */
  take(): { readonly tag: string; readonly up: number; readonly down: number }[] {
    const moved = [...this.#moved].map(([tag, bytes]) => ({ tag, ...bytes }));
    this.#moved.clear();
    return moved;
  }

  /** Without a row nothing is read: the bytes count once a row was removed, if their core still runs. */
  #leaveOutNew(state: ByTag): void {
    let room = this.#mostRows - state.size;
    const left = [...this.#unsaved.keys()].filter((tag) => !state.has(tag) && room-- <= 0);
    for (const tag of left) this.#unsaved.delete(tag);
    if (left.length > 0 && !this.#isFull)
      this.#log.error('too many outbounds have been counted; remove those that no config has', {
        most: this.#mostRows,
        notCounted: left.length,
        first: left[0]?.slice(0, 100),
        fix: 'POST /panel/api/x/outbound-traffic/prune',
      });
    this.#isFull = left.length > 0;
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
      await this.#save(tx, zero);
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
    return this.#unsaved.size > 0;
  }

  async #save(tx: Tx, rows: readonly Counted[]): Promise<void> {
    if (rows.length === 0) return;
    const hashes = new Map(rows.map(({ tag }) => [tag, hashOf(tag)]));
    const { rows: from, incoming, onConflict } = tx.sql;
    const set = Object.keys(COLUMNS).map((column) => `${column} = ${incoming(column)}`);
    await tx.run(
      `INSERT INTO outbound_traffic (hash, tag, up, down, epoch, read_up, read_down, is_removed)
       SELECT j.hash, j.tag, j.up, j.down, j.epoch, j.read_up, j.read_down, j.is_removed FROM ${from(COLUMNS)} AS j WHERE true
       ${onConflict('hash', set.join(', '))}`,
      {
        rows: JSON.stringify(
          rows.map(({ tag, up, down, epoch, readUp, readDown, isRemoved }) => [
            hashes.get(tag),
            tag,
            up,
            down,
            epoch,
            readUp,
            readDown,
            Number(isRemoved),
          ]),
        ),
      },
    );
    const ids = await this.#idsOf(tx, hashes);
    tx.apply(this.#memory, { saved: rows.map((row) => ({ ...row, id: ids.get(row.tag) ?? 0 })) });
  }

  /** Ids by tag; the database is asked about new rows only. */
  async #idsOf(tx: Tx, hashes: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, number>> {
    const { state } = this.#memory;
    const ids = new Map<string, number>();
    const tags = new Map<string, string>();
    for (const [tag, hash] of hashes) {
      const id = state.get(tag)?.id;
      if (id === undefined) tags.set(hash, tag);
      else ids.set(tag, id);
    }
    if (tags.size === 0) return ids;
    const rows = await tx.query<{ id: number; hash: string }>(
      'SELECT id, hash FROM outbound_traffic WHERE hash IN (:hashes)',
      { hashes: [...tags.keys()] },
    );
    for (const { id, hash } of rows) ids.set(tags.get(hash) ?? '', id);
    return ids;
  }

  async #delete(tx: Tx, rows: readonly CountedOutbound[]): Promise<void> {
    if (rows.length === 0) return;
    await tx.run('DELETE FROM outbound_traffic WHERE id IN (:ids)', { ids: rows.map(({ id }) => id) });
    tx.apply(this.#memory, { deleted: new Set(rows.map(({ tag }) => tag)) });
  }
}
