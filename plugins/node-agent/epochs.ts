// The epochs of usage. Totals only grow within one; what cannot be the continuation of what centrals were told begins a new one.
import { randomUUID } from 'node:crypto';
import {
  type Database,
  kernelErrors,
  type Log,
  messageOf,
  SerialQueue,
  type Tx,
} from '../../kernel/index.js';
import { EpochFile } from './epoch-file.js';
import type { EpochRow } from './tables.js';

/** Older epochs are dropped, even if a central has not taken all of them. */
const MOST_EPOCHS = 16;
const SELECT =
  'SELECT number, epoch, skips_poll AS "skipsPoll", seq, generation FROM node_agent_epochs ORDER BY number';

export class Epochs {
  readonly #db: Database;
  readonly #log: Log;
  readonly #file: EpochFile;
  /** of the file */
  readonly #queue = new SerialQueue();
  #current: EpochRow | undefined;
  #told = 0;

  constructor({ db, log, dataDirectory }: { db: Database; log: Log; dataDirectory: string }) {
    this.#db = db;
    this.#log = log;
    this.#file = new EpochFile(dataDirectory);
  }

  /** Goes on with the epoch of before if the database and the file agree. */
  async start(): Promise<void> {
    const [mark, all] = [await this.#file.read(), await this.all()];
    const last = all.at(-1);
    if (last && mark && mark.generation === last.generation && mark.told <= last.seq) {
      this.#current = last;
      this.#told = mark.told;
      return;
    }
    if (last)
      this.#log.warn(
        'the database is not the one that this data folder had last; a new epoch of usage begins',
        {
          hasFile: mark !== undefined,
        },
      );
    await this.begin(last !== undefined);
  }

  get current(): EpochRow {
    if (!this.#current) throw new Error('the epochs are used before the start');
    return this.#current;
  }

  async all(): Promise<EpochRow[]> {
    const rows = await this.#db.query<EpochRow>(SELECT);
    return rows.map((row) => ({
      ...row,
      number: Number(row.number),
      seq: Number(row.seq),
      skipsPoll: Boolean(row.skipsPoll),
    }));
  }

  /** `isRewound`: the counters of the core may have bytes that were told before. */
  begin(isRewound: boolean): Promise<void> {
    return this.#queue.run(async () => {
      const generation = randomUUID();
      const epoch = randomUUID();
      // A crash between the two leaves them in disagreement: the next start begins one more.
      await this.#db.write(async (tx) => {
        await tx.run(
          'INSERT INTO node_agent_epochs (epoch, skips_poll, seq, generation) VALUES (:epoch, :skips, 0, :generation)',
          { epoch, generation, skips: Number(isRewound) },
        );
        await this.#prune(tx);
      });
      this.#current = (await this.all()).at(-1);
      this.#told = 0;
      await this.#file.write({ generation, told: 0 }).catch((error: unknown) =>
        this.#log.error('the epoch file cannot be written; the next start begins a new epoch of usage', {
          path: this.#file.path,
          reason: messageOf(error),
        }),
      );
    });
  }

  /** Drops epochs that nothing is left of, and those beyond the limit. */
  async #prune(tx: Tx): Promise<void> {
    const left = `SELECT epoch FROM node_agent_usage UNION SELECT epoch FROM node_agent_journal`;
    await tx.run(
      `DELETE FROM node_agent_epochs WHERE number < (SELECT last FROM (SELECT max(number) AS last FROM node_agent_epochs) AS lasts) AND number NOT IN (${left})`,
    );
    const kept = await tx.query<{ number: number }>(
      `SELECT number FROM node_agent_epochs ORDER BY number DESC LIMIT ${MOST_EPOCHS}`,
    );
    const oldest = Number(kept.at(-1)?.number ?? 0);
    if (kept.length < MOST_EPOCHS) return;
    for (const [rows, column] of [
      ['node_agent_epochs', 'number'],
      ['node_agent_usage', 'epoch'],
      ['node_agent_journal', 'epoch'],
    ] as const)
      await tx.run(`DELETE FROM ${rows} WHERE ${column} < :oldest`, { oldest });
  }

  /** Gives the next seq of an epoch. */
  async next(tx: Tx, epoch: number): Promise<number> {
    await tx.run('UPDATE node_agent_epochs SET seq = seq + 1 WHERE number = :epoch', { epoch });
    const [row] = await tx.query<{ seq: number }>('SELECT seq FROM node_agent_epochs WHERE number = :epoch', {
      epoch,
    });
    return Number(row?.seq ?? 0);
  }

  /** Call it before a central gets these: a database that knows less is an older one. */
  telling(epoch: number, seq: number): Promise<void> {
    return this.#queue.run(async () => {
      if (epoch !== this.current.number || seq <= this.#told) return;
      const { generation } = this.current;
      await this.#file.write({ generation, told: seq }).catch((cause: unknown) => {
        throw kernelErrors.STORAGE(`${this.#file.path} cannot be written`, { cause });
      });
      this.#told = seq;
    });
  }

  /** Whether the bytes of this poll are not told: the first one after a database was restored has bytes that were told before. */
  async skips(tx: Tx): Promise<boolean> {
    if (!this.current.skipsPoll) return false;
    const { number } = this.current;
    const changed = await tx.query<{ one: number }>(
      'SELECT 1 AS one FROM node_agent_epochs WHERE number = :number AND skips_poll = 1',
      { number },
    );
    // Memory learns it from the next poll: this one may be rolled back.
    if (changed.length === 0) this.#current = { ...this.current, skipsPoll: false };
    else await tx.run('UPDATE node_agent_epochs SET skips_poll = 0 WHERE number = :number', { number });
    return changed.length > 0;
  }
}
