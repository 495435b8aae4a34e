// Clients that a job did not change, each with the reason; numbered, so that a page costs a page.
import type { Database, Tx } from '../../kernel/index.js';
import type { Outcome } from './tables.js';

/** Rows that one write removes at most, because other writes wait for it. */
const MOST_REMOVED = 5_000;
/** Rows of one statement. */
const ROWS = 1_000;
const LONGEST_TEXT = 500;

export interface Listed {
  readonly id: number;
  readonly email: string;
  readonly outcome: Outcome;
  readonly code: string;
  readonly reason: string;
}

const COLUMNS = {
  place: 'integer',
  outcome: 'text',
  client_id: 'integer',
  email: 'text',
  code: 'text',
  reason: 'text',
} as const;
/** Without halves of characters. */
export const shortened = (text: string): string => Buffer.from(text.slice(0, LONGEST_TEXT)).toString();

export class SkippedClients {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /** `listed` is how many the job has already. */
  async insert(tx: Tx, jobId: number, listed: number, clients: readonly Listed[]): Promise<void> {
    for (let from = 0; from < clients.length; from += ROWS) {
      const rows = clients
        .slice(from, from + ROWS)
        .map(({ outcome, id, email, code, reason }, i) => [
          ...[listed + from + i + 1, outcome, id, shortened(email), code, shortened(reason)],
        ]);
      await tx.run(
        `INSERT INTO bulk_job_skipped (job_id, ${Object.keys(COLUMNS).join(', ')})
         SELECT :jobId, j.place, j.outcome, j.client_id, j.email, j.code, j.reason FROM ${tx.sql.rows(COLUMNS)} AS j`,
        { jobId, rows: JSON.stringify(rows) },
      );
    }
  }

  /** Those with places after one and up to another. */
  async page(jobId: number, after: number, upTo: number): Promise<Listed[]> {
    const rows = await this.#db.query<Listed>(
      `SELECT client_id AS id, email, outcome, code, reason FROM bulk_job_skipped
       WHERE job_id = :jobId AND place > :after AND place <= :upTo ORDER BY place`,
      { jobId, after, upTo },
    );
    return rows.map((row) => ({ ...row, id: Number(row.id) }));
  }

  /** Removes some; resolves with whether there may be more. */
  async removeSome(jobId: number): Promise<boolean> {
    const [end] = await this.#db.query<{ place: number }>(
      `SELECT place FROM bulk_job_skipped WHERE job_id = :jobId ORDER BY place LIMIT 1 OFFSET ${MOST_REMOVED}`,
      { jobId },
    );
    await this.#db.write((tx) =>
      tx.run(`DELETE FROM bulk_job_skipped WHERE job_id = :jobId${end ? ' AND place < :end' : ''}`, {
        jobId,
        ...(end && { end: Number(end.place) }),
      }),
    );
    return end !== undefined;
  }
}
