// Questions that the bot has asked and that a user may answer with a text. They are rows, so a restart loses none.
import type { Clock, Database } from '../../../kernel/index.js';
import type { BotTables } from '../tables.js';

const LIFE_MS = 60 * 60_000;
const MOST_CHARACTERS = 16_384;

export interface Dialog {
  readonly step: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class Dialogs {
  readonly #db: Database;
  readonly #rows: BotTables['dialogs'];
  readonly #clock: Clock;

  constructor({ db, tables, clock }: { db: Database; tables: BotTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tables.dialogs;
    this.#clock = clock;
  }

  /** The open question of a user; `expired` where it is too old or cannot be read any more. */
  async of(userId: number): Promise<Dialog | 'expired' | undefined> {
    const row = (await this.#rows.findByPk(userId))?.get();
    if (!row) return undefined;
    if (row.expiresAt <= this.#clock.now() || row.expiresAt > this.#clock.now() + LIFE_MS) return 'expired';
    try {
      const data: unknown = JSON.parse(row.data);
      if (typeof data === 'object' && data !== null) return { step: row.step, data: data as Dialog['data'] };
    } catch {
      // Handled like one that is too old.
    }
    return 'expired';
  }

  /** Asks; a question that was open before is closed. */
  async open(userId: number, { step, data }: Dialog): Promise<void> {
    const text = JSON.stringify(data);
    if (text.length > MOST_CHARACTERS) throw new Error('the answers of a dialog are too long');
    const expiresAt = this.#clock.now() + LIFE_MS;
    await this.#db.write((tx) =>
      this.#rows.upsert({ userId, step, data: text, expiresAt }, { transaction: tx.t }),
    );
  }

  async close(userId: number): Promise<void> {
    if (!(await this.#rows.findByPk(userId))) return;
    await this.#db.write((tx) => this.#rows.destroy({ where: { userId }, transaction: tx.t }));
  }

  async prune(): Promise<void> {
    const old = { now: this.#clock.now() };
    const rows = await this.#db.query(
      'SELECT user_id FROM msg_bot_dialogs WHERE expires_at <= :now LIMIT 1',
      old,
    );
    if (rows.length === 0) return;
    await this.#db.write((tx) => tx.run('DELETE FROM msg_bot_dialogs WHERE expires_at <= :now', old));
  }
}
