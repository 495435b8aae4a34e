// Usage on its way to the table of days. Each poll appends one row, because a row for each client would double the time
// of a poll; once a minute the rows are summed and added to the days, in writes that others do not notice.
import { type Database, SerialQueue, TimeSlice, type Tx } from '../../kernel/index.js';
import type { ClientUsage } from '../clients/contract.js';

/** Entries of one row of a poll: a longer text holds the event loop. */
const ROW_SIZE = 10_000;
/** Clients of one write of days: other writes wait for it. */
const BATCH_SIZE = 2_500;
/** Rows that are in memory at once: a minute of polls, with room for one that failed. */
const MOST_ROWS = 24;
/** Sums stay exact integers in JSON, in the database and in replies. */
const MOST_BYTES = Number.MAX_SAFE_INTEGER;

type Entry = readonly [clientId: number, up: number, down: number];
interface Row {
  readonly number: number;
  readonly day: number;
  readonly entries: string;
}
const ENTRY = { client_id: 'integer', up: 'integer', down: 'integer' } as const;
const add = (a: number, b: number): number => Math.min(a + b, MOST_BYTES);

export class UsageJournal {
  readonly #db: Database;
  /** Two moves at once would add the same rows twice. */
  readonly #queue = new SerialQueue();

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /** Stores the usage of a poll with its bytes, so it counts once however the panel ends. */
  async append(tx: Tx, day: number, usage: readonly ClientUsage[]): Promise<void> {
    const slice = new TimeSlice();
    for (let from = 0; from < usage.length; from += ROW_SIZE) {
      if (slice.isOver) await slice.next();
      const entries = usage
        .slice(from, from + ROW_SIZE)
        .map(({ clientId, up, down }): Entry => [clientId, up, down]);
      await insert(tx, day, entries, false);
    }
  }

  /** Adds all that was appended to the days. A crash anywhere loses nothing and counts nothing twice. */
  move(signal: AbortSignal): Promise<void> {
    return this.#queue.run(async () => {
      let isMore = true;
      while (isMore && !signal.aborted) isMore = await this.#sum();
      while (!signal.aborted && (await this.#store()));
    });
  }

  /** Replaces the oldest rows of polls by their sums, in one write. Returns whether rows of polls may be left. */
  async #sum(): Promise<boolean> {
    const rows = await this.#db.query<Row>(
      `SELECT number, day, entries FROM usage_by_day_journal WHERE is_summed = 0 ORDER BY number LIMIT ${MOST_ROWS}`,
    );
    const last = rows.at(-1);
    if (!last) return false;
    const days = await sumsByDay(rows);
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM usage_by_day_journal WHERE is_summed = 0 AND number <= :last', {
        last: last.number,
      });
      for (const [day, sums] of days)
        for (let from = 0; from < sums.length; from += BATCH_SIZE)
          await insert(tx, day, sums.slice(from, from + BATCH_SIZE), true);
    });
    return rows.length === MOST_ROWS;
  }

  /** Adds one row of sums to its day and deletes it, in one write. Returns false when there was none. */
  async #store(): Promise<boolean> {
    const [row] = await this.#db.query<Row>(
      'SELECT number, day, entries FROM usage_by_day_journal WHERE is_summed = 1 ORDER BY number LIMIT 1',
    );
    if (!row) return false;
    await this.#db.write(async (tx) => {
      const { rows, onConflict, incoming, least } = tx.sql;
      const sum = (column: string) =>
        `${column} = ${least}(usage_by_day.${column} + ${incoming(column)}, ${MOST_BYTES})`;
      // Rows of clients that were deleted meanwhile are removed with their others.
      await tx.run(
        `INSERT INTO usage_by_day (day, client_id, up, down)
         SELECT :day, j.client_id, j.up, j.down FROM ${rows(ENTRY)} AS j WHERE true
         ${onConflict('day, client_id', `${sum('up')}, ${sum('down')}`)}`,
        { day: row.day, rows: row.entries },
      );
      await tx.run('DELETE FROM usage_by_day_journal WHERE number = :number', { number: row.number });
    });
    return true;
  }
}

function insert(tx: Tx, day: number, entries: readonly Entry[], isSummed: boolean): Promise<void> {
  return tx.run(
    'INSERT INTO usage_by_day_journal (day, is_summed, entries) VALUES (:day, :isSummed, :entries)',
    { day, isSummed: Number(isSummed), entries: JSON.stringify(entries) },
  );
}

/** Each client of a day once, by id, because neighbours in a table are written faster. */
async function sumsByDay(rows: readonly Row[]): Promise<Map<number, Entry[]>> {
  const byDay = new Map<number, Map<number, Entry>>();
  const slice = new TimeSlice();
  for (const { day, entries } of rows) {
    const sums = byDay.get(Number(day)) ?? new Map<number, Entry>();
    byDay.set(Number(day), sums);
    if (slice.isOver) await slice.next();
    for (const [id, up, down] of JSON.parse(entries) as Entry[]) {
      const known = sums.get(id);
      sums.set(id, known ? [id, add(known[1], up), add(known[2], down)] : [id, up, down]);
      if (slice.isOver) await slice.next();
    }
  }
  const sorted = new Map<number, Entry[]>();
  for (const [day, sums] of byDay) {
    if (slice.isOver) await slice.next();
    sorted.set(
      day,
      [...sums.values()].sort(([a], [b]) => a - b),
    );
  }
  return sorted;
}
