// Which updates were handled. Each is handled once, also over restarts: it is recorded before, so that a crash loses one
// rather than resetting something twice.
import { type Clock, type Database, type Log, messageOf, SerialQueue } from '../../../kernel/index.js';
import type { BotUpdate } from '../api/update.js';
import type { BotTables } from '../tables.js';

/** After a week without updates the Bot API may number them from somewhere else. */
const STALE_MS = 6 * 86_400_000;

interface Mark {
  readonly next: number;
  readonly at: number;
}

export class UpdateLog {
  readonly #db: Database;
  readonly #bots: BotTables['bots'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #marks = new Map<string, Mark>();
  readonly #queue = new SerialQueue();
  #hasFailed = false;

  constructor({ db, tables, clock, log }: { db: Database; tables: BotTables; clock: Clock; log: Log }) {
    this.#db = db;
    this.#bots = tables.bots;
    this.#clock = clock;
    this.#log = log;
  }

  /** The id of the first update that is not handled; 0: unknown. */
  offset(botId: string): Promise<number> {
    return this.#queue.run(async () => this.#nextOf(await this.#mark(botId)));
  }

  /** Returns those that were not handled before, recorded as handled. */
  claim(botId: string, updates: readonly BotUpdate[]): Promise<BotUpdate[]> {
    return this.#queue.run(async () => {
      let next = this.#nextOf(await this.#mark(botId));
      const fresh: BotUpdate[] = [];
      for (const update of updates) {
        if (update.update_id < next) continue;
        next = update.update_id + 1;
        fresh.push(update);
      }
      if (fresh.length > 0) await this.#keep(botId, { next, at: this.#clock.now() });
      return fresh;
    });
  }

  #nextOf({ next, at }: Mark): number {
    return Math.abs(this.#clock.now() - at) > STALE_MS ? 0 : next;
  }

  async #mark(botId: string): Promise<Mark> {
    const known = this.#marks.get(botId);
    if (known) return known;
    const row = (await this.#bots.findByPk(botId))?.get();
    const mark = { next: row?.nextUpdate ?? 0, at: row?.updatedAt ?? 0 };
    this.#marks.set(botId, mark);
    return mark;
  }

  /** While the database fails, memory is enough until the next start. */
  async #keep(botId: string, { next, at }: Mark): Promise<void> {
    this.#marks.set(botId, { next, at });
    try {
      await this.#db.write((tx) =>
        this.#bots.upsert({ botId, nextUpdate: next, updatedAt: at }, { transaction: tx.t }),
      );
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed)
        this.#log.warn('which updates the bot has handled cannot be stored', { reason: messageOf(error) });
      this.#hasFailed = true;
    }
  }
}
