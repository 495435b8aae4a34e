// Removes old entries from the beginning of the chain, in short writes, and keeps the hash of the last one removed.
import type { Clock, Database, Log } from '../../kernel/index.js';
import type { ChainKey } from './chain-key.js';

const DAY = 86_400_000;
/** Changes that one write removes, or a whole entry if it has more. */
const SLICE = 2000;

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly chainKey: ChainKey;
  readonly settings: { read(): { readonly auditDays: number; readonly auditMostChanges: number } };
}
interface LastRow {
  readonly id: number;
  readonly entry: number;
  readonly hash: string;
}

export class Retention {
  readonly #needs: Needs;

  constructor({ db, clock, log, chainKey, settings }: Needs) {
    this.#needs = { db, clock, log, chainKey, settings };
  }

  async run(): Promise<void> {
    const until = Math.max(await this.#tooOld(), await this.#tooMany());
    let removed = 0;
    for (let end = await this.#endOfSlice(until); end; end = await this.#endOfSlice(until)) {
      await this.#remove(end);
      removed += 1;
    }
    if (removed > 0) this.#needs.log.info('old entries of the audit were removed', { writes: removed });
  }

  /** The last row before the first one that is young enough, at most a day of them: a clock that is wrong for an hour costs a day, not the record. */
  async #tooOld(): Promise<number> {
    const { db, clock, settings } = this.#needs;
    const { auditDays } = settings.read();
    if (auditDays === 0) return 0;
    const now = clock.now();
    const latest = now + DAY;
    // Entries of a clock that was far ahead say nothing about the age of the others.
    const [oldest] = await db.query<{ at: number }>(
      'SELECT at FROM audit_changes WHERE at <= :latest ORDER BY id LIMIT 1',
      { latest },
    );
    const [since, dayEnd] = [now - auditDays * DAY, Number(oldest?.at ?? 0) + DAY];
    if (!oldest || Number(oldest.at) >= since) return 0;
    const before = async (time: number): Promise<number | undefined> => {
      const [row] = await db.query<{ first: number | null }>(
        'SELECT MIN(id) AS first FROM audit_changes WHERE at >= :time AND at <= :latest',
        { time, latest },
      );
      return row?.first ? Number(row.first) - 1 : undefined;
    };
    const [young, next] = [await before(since), await before(dayEnd)];
    return Math.min(young ?? Number.MAX_SAFE_INTEGER, next ?? Number.MAX_SAFE_INTEGER);
  }

  async #tooMany(): Promise<number> {
    const { db, settings } = this.#needs;
    const [row] = await db.query<{ id: number }>(
      'SELECT id FROM audit_changes ORDER BY id DESC LIMIT 1 OFFSET :most',
      { most: settings.read().auditMostChanges },
    );
    return row ? Number(row.id) : 0;
  }

  /** The last row of an entry that ends before `until`; the newest entry of all stays, so that the chain has an end. */
  async #endOfSlice(until: number): Promise<LastRow | undefined> {
    const { db } = this.#needs;
    const ends = `hash <> '' AND id <= :until AND id < (SELECT MAX(id) FROM audit_changes)`;
    const [within] = await db.query<LastRow>(
      `SELECT id, entry, hash FROM audit_changes
       WHERE ${ends} AND id < (SELECT MIN(id) FROM audit_changes) + :slice ORDER BY id DESC LIMIT 1`,
      { until, slice: SLICE },
    );
    if (within) return within;
    const [next] = await db.query<LastRow>(
      `SELECT id, entry, hash FROM audit_changes WHERE ${ends} ORDER BY id LIMIT 1`,
      { until },
    );
    return next;
  }

  #remove({ id, entry, hash }: LastRow): Promise<void> {
    return this.#needs.db.write(async (tx) => {
      await this.#needs.chainKey.removedUntil(tx, { id: Number(entry), hash });
      await tx.run('DELETE FROM audit_changes WHERE id <= :id', { id });
    });
  }
}
