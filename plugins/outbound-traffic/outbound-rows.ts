// The rows of outbounds, and memory that follows them.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import { hashOf } from './core-readings.js';
import type { OutboundTables } from './tables.js';

/** What is counted of one outbound, and the reading of its counter that this includes. */
export interface Counted {
  readonly tag: string;
  /** bytes since the last reset */
  readonly up: number;
  readonly down: number;
  /** blank where `CoreReadings` has the reading */
  readonly epoch: string;
  /** bytes since the start of that core */
  readonly readUp: number;
  readonly readDown: number;
  readonly isRemoved: boolean;
}
export interface CountedOutbound extends Counted {
  readonly id: number;
}

export type ByTag = Map<string, CountedOutbound>;
type Change = { readonly saved: readonly CountedOutbound[] } | { readonly deleted: ReadonlySet<string> };

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

export class OutboundRows {
  readonly #tables: OutboundTables;
  readonly #memory: Projection<ByTag, Change>;

  constructor({ db, tables }: { readonly db: Database; readonly tables: OutboundTables }) {
    this.#tables = tables;
    this.#memory = db.projection<ByTag, Change>({
      load: async () => new Map((await this.#read()).map((row) => [row.tag, row])),
      apply: (state, change) => {
        if ('saved' in change) for (const row of change.saved) state.set(row.tag, row);
        else for (const tag of change.deleted) state.delete(tag);
      },
    });
  }

  get state(): ByTag {
    return this.#memory.state;
  }

  /** Those of these tags as the database has them in this turn. */
  within(tx: Tx, tags: readonly string[]): Promise<CountedOutbound[]> {
    return this.#read({ where: { hash: tags.map(hashOf) }, transaction: tx.t });
  }

  async #read(
    options: { where?: { hash: string[] }; transaction?: Tx['t'] } = {},
  ): Promise<CountedOutbound[]> {
    return (await this.#tables.outbounds.findAll(options)).map((row) => {
      const { hash: _, isRemoved, ...outbound } = row.get();
      return { ...outbound, isRemoved: isRemoved !== 0 };
    });
  }

  /** Writes these as they are. */
  async save(tx: Tx, rows: readonly Counted[]): Promise<void> {
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

  async delete(tx: Tx, rows: readonly CountedOutbound[]): Promise<void> {
    if (rows.length === 0) return;
    await tx.run('DELETE FROM outbound_traffic WHERE id IN (:ids)', { ids: rows.map(({ id }) => id) });
    tx.apply(this.#memory, { deleted: new Set(rows.map(({ tag }) => tag)) });
  }
}
