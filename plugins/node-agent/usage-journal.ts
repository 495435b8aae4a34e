// Usage on its way to the totals of centrals. A poll appends one row in its transaction; the totals follow before they are
// asked for, and once a minute.
import { type Database, SerialQueue, type SqlWords, TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientUsage } from '../clients/contract.js';
import type { Epochs } from './epochs.js';

/** Entries of one row of a poll: a longer text holds the event loop. */
const ROW_SIZE = 10_000;
/** Entries that one write adds to the totals: other writes wait for it, and they get one seq. */
export const BATCH_SIZE = 2_500;
/** Rows that are in memory at once. */
const MOST_ROWS = 24;
/** A total stays a whole number that JSON has. */
const MOST_BYTES = Number.MAX_SAFE_INTEGER;
/** SQL that adds what comes in to a column of the totals. */
export const addedTo = ({ least, incoming }: SqlWords, column: 'up' | 'down'): string =>
  `${column} = ${least}(node_agent_usage.${column} + ${incoming(column)}, ${MOST_BYTES})`;

type Entry = readonly [clientId: number, inboundId: number, up: number, down: number];
interface Row {
  readonly number: number;
  readonly epoch: number;
  readonly isSummed: number | boolean;
  readonly entries: string;
}
const ENTRY = { client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' } as const;
const SELECT = 'SELECT number, epoch, is_summed AS "isSummed", entries FROM node_agent_journal';

export class UsageJournal {
  readonly #db: Database;
  readonly #epochs: Epochs;
  /** Two moves at once would add the same rows twice. */
  readonly #queue = new SerialQueue();

  constructor({ db, epochs }: { db: Database; epochs: Epochs }) {
    this.#db = db;
    this.#epochs = epochs;
  }

  /** Stores the usage of a poll with its bytes, so it counts once however the panel ends. */
  async append(tx: Tx, usage: readonly ClientUsage[]): Promise<void> {
    if (await this.#epochs.skips(tx)) return;
    const slice = new TimeSlice();
    for (let from = 0; from < usage.length; from += ROW_SIZE) {
      if (slice.isOver) await slice.next();
      const entries = usage
        .slice(from, from + ROW_SIZE)
        .map(({ clientId, inboundId, up, down }): Entry => [clientId, inboundId, up, down]);
      await insert(tx, this.#epochs.current.number, entries, false);
    }
  }

  /** Adds all that was appended to the totals. A crash anywhere loses nothing and counts nothing twice. */
  move(signal?: AbortSignal): Promise<void> {
    return this.#queue.run(async () => {
      let isMore = true;
      while (isMore && !signal?.aborted) isMore = await this.#sum();
      while (!signal?.aborted && (await this.#store()));
    });
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#db.query('SELECT 1 AS one FROM node_agent_journal LIMIT 1')).length === 0;
  }

  /** Replaces the oldest rows of polls by their sums, in one write. Returns whether rows of polls may be left. */
  async #sum(): Promise<boolean> {
    const rows = await this.#db.query<Row>(
      `${SELECT} WHERE is_summed = 0 ORDER BY number LIMIT ${MOST_ROWS}`,
    );
    const last = rows.at(-1);
    if (!last) return false;
    const epochs = await sumsByEpoch(rows);
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM node_agent_journal WHERE is_summed = 0 AND number <= :last', {
        last: last.number,
      });
      for (const [epoch, sums] of epochs)
        for (let from = 0; from < sums.length; from += BATCH_SIZE)
          await insert(tx, epoch, sums.slice(from, from + BATCH_SIZE), true);
    });
    return rows.length === MOST_ROWS;
  }

  /** Adds one row of sums to the totals and deletes it, in one write. Returns false when there was none. */
  async #store(): Promise<boolean> {
    const [row] = await this.#db.query<Row>(`${SELECT} WHERE is_summed = 1 ORDER BY number LIMIT 1`);
    if (!row) return false;
    await this.#db.write(async (tx) => {
      const { rows, onConflict, incoming, least } = tx.sql;
      const seq = await this.#epochs.next(tx, row.epoch);
      // From the entries to their records: the other way round would look at all records for each entry.
      const join = tx.sql.dialect === 'sqlite' ? 'CROSS JOIN' : 'STRAIGHT_JOIN';
      // Several polls may be in one row. A central refuses the whole reply for one number that is too large.
      const first = (column: string) => `${least}(sum(j.${column}), ${MOST_BYTES})`;
      // What no central manages is left out, and so are bytes through inbounds that its central does not know. Of a
      // deleted client the record is there still: its last bytes count.
      await tx.run(
        `INSERT INTO node_agent_usage (central, epoch, client_id, inbound_id, up, down, seq)
         SELECT c.central, :epoch, c.id, i.id, ${first('up')}, ${first('down')}, :seq FROM ${rows(ENTRY)} AS j
         ${join} node_agent_records c ON c.kind = 'client' AND c.local_id = j.client_id
         ${join} node_agent_records i ON i.kind = 'inbound' AND i.local_id = j.inbound_id AND i.central = c.central
         WHERE true GROUP BY c.central, c.id, i.id
         ${onConflict('central, epoch, client_id, inbound_id', `${addedTo(tx.sql, 'up')}, ${addedTo(tx.sql, 'down')}, seq = ${incoming('seq')}`)}`,
        { epoch: row.epoch, seq, rows: row.entries },
      );
      await tx.run('DELETE FROM node_agent_journal WHERE number = :number', { number: row.number });
    });
    return true;
  }
}

function insert(tx: Tx, epoch: number, entries: readonly Entry[], isSummed: boolean): Promise<void> {
  return tx.run(
    'INSERT INTO node_agent_journal (epoch, is_summed, entries) VALUES (:epoch, :isSummed, :entries)',
    { epoch, isSummed: Number(isSummed), entries: JSON.stringify(entries) },
  );
}

/** Each client and inbound of an epoch once, by id, because neighbours in a table are written faster. */
async function sumsByEpoch(rows: readonly Row[]): Promise<Map<number, Entry[]>> {
  const byEpoch = new Map<number, Map<string, Entry>>();
  const slice = new TimeSlice();
  for (const { epoch, entries } of rows) {
    const sums = byEpoch.get(epoch) ?? new Map<string, Entry>();
    byEpoch.set(epoch, sums);
    if (slice.isOver) await slice.next();
    for (const entry of JSON.parse(entries) as Entry[]) {
      const [clientId, inboundId, up, down] = entry;
      const key = `${clientId}.${inboundId}`;
      const known = sums.get(key);
      sums.set(key, known ? [clientId, inboundId, known[2] + up, known[3] + down] : entry);
      if (slice.isOver) await slice.next();
    }
  }
  const sorted = new Map<number, Entry[]>();
  for (const [epoch, sums] of byEpoch) {
    if (slice.isOver) await slice.next();
    sorted.set(
      epoch,
      [...sums.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]),
    );
  }
  return sorted;
}
