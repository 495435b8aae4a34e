// The clock of a panel among several: the time of the database, so that a machine whose clock is wrong ends no sessions and
// runs no job at a wrong hour.
import { type Clock, type Database, type Log, systemClock } from '../../kernel/index.js';

/** A smaller difference is left alone: it may be that of the way to the database. */
const WORTH_MS = 1_000;
/** SQL of the time of the database in Unix ms; connections have the time zone UTC. */
export const NOW = 'ROUND(UNIX_TIMESTAMP(NOW(3)) * 1000)';

export class DatabaseClock implements Clock {
  #offset = 0;

  now(): number {
    return systemClock.now() + this.#offset;
  }
  every(ms: number, run: () => void): () => void {
    return systemClock.every(ms, run);
  }

  /** Compares this machine's clock with the database's. */
  async compare(db: Pick<Database, 'query'>, log: Log): Promise<void> {
    const asked = systemClock.now();
    const [row] = await db.query<{ now: number }>(`SELECT ${NOW} AS now`);
    const answered = systemClock.now();
    const offset = Math.round(Number(row?.now) - (asked + answered) / 2);
    const isWrong = Math.abs(offset) > WORTH_MS + (answered - asked) / 2;
    if (isWrong && Math.abs(offset - this.#offset) > WORTH_MS)
      log.warn("the clock of this machine differs from the database's, which counts; set it", {
        seconds: Math.round(offset / 1000),
      });
    this.#offset = isWrong ? offset : 0;
  }
}
