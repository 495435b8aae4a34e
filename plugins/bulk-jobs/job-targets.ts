// The clients of a job, fixed at its start: a row for each portion, so 100,000 clients are a few hundred rows.
import { type Database, TimeSlice, type Tx } from '../../kernel/index.js';
import type { Target } from '../clients/contract.js';

/** Clients of one transaction: other edits wait for it. */
export const PORTION = 500;
/** Rows of one statement; a longer text holds the event loop. */
const ROWS = 4;

export interface Block {
  readonly number: number;
  readonly targets: readonly Target[];
}
type Entry = readonly [id: number, email: string];
interface Stored {
  readonly number: number;
  readonly entries: string;
}

const entriesOf = (targets: readonly Target[]): string =>
  JSON.stringify(targets.map(({ id, email }): Entry => [id, email]));
const read = ({ number, entries }: Stored): Block => ({
  number: Number(number),
  targets: (JSON.parse(entries) as Entry[]).map(([id, email]) => ({ id, email })),
});

export class JobTargets {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  async insert(tx: Tx, jobId: number, targets: readonly Target[]): Promise<void> {
    const columns = tx.sql.rows({ number: 'integer', size: 'integer', entries: 'text' });
    const slice = new TimeSlice();
    let rows: unknown[] = [];
    for (let from = 0; from < targets.length; from += PORTION) {
      if (slice.isOver) await slice.next();
      const portion = targets.slice(from, from + PORTION);
      rows.push([from / PORTION, portion.length, entriesOf(portion)]);
      if (rows.length < ROWS && from + PORTION < targets.length) continue;
      await tx.run(
        `INSERT INTO bulk_job_targets (job_id, number, size, entries)
         SELECT :jobId, j.number, j.size, j.entries FROM ${columns} AS j`,
        { jobId, rows: JSON.stringify(rows) },
      );
      rows = [];
    }
  }

  /** The next ones to do, after a block of this number. */
  async next(jobId: number, after = -1): Promise<Block | undefined> {
    const [row] = await this.#db.query<Stored>(
      'SELECT number, entries FROM bulk_job_targets WHERE job_id = :jobId AND number > :after ORDER BY number LIMIT 1',
      { jobId, after },
    );
    return row && read(row);
  }

  /** Takes the first of a block away. Throws if somebody else has, and then the write must fail. */
  async take(tx: Tx, jobId: number, { number, targets }: Block, count: number): Promise<void> {
    const key = { jobId, number, size: targets.length };
    const rest = targets.slice(count);
    const where = 'WHERE job_id = :jobId AND number = :number AND size = :size';
    const taken = await (rest.length === 0
      ? tx.change(`DELETE FROM bulk_job_targets ${where}`, key)
      : tx.change(`UPDATE bulk_job_targets SET size = :left, entries = :entries ${where}`, {
          ...key,
          left: rest.length,
          entries: entriesOf(rest),
        }));
    if (taken !== 1) throw new Error(`the clients of job ${jobId} were taken by somebody else`);
  }

  remove(tx: Tx, jobId: number): Promise<void> {
    return tx.run('DELETE FROM bulk_job_targets WHERE job_id = :jobId', { jobId });
  }
}
