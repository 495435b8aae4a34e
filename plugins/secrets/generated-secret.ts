// A secret that a plugin makes for itself, such as the key of its cookies: not before it is needed, so that a plugin which
// nobody uses adds nothing to what a lost key of the panel costs.
import { randomBytes } from 'node:crypto';
import {
  type Database,
  kernelErrors,
  type Log,
  messageOf,
  PanelError,
  type Projection,
  type Tx,
} from '../../kernel/index.js';
import type { SealedColumn, SecretsApi } from './contract.js';

const MOST_ATTEMPTS = 5;

interface Needs {
  readonly db: Database;
  readonly secrets: SecretsApi;
  readonly log: Log;
}

/** The same in all panels of a database. */
export class GeneratedSecret {
  readonly #needs: Needs;
  readonly #column: SealedColumn;
  readonly #row: string;
  /** opened: after a change of keys the stored text is another one */
  readonly #memory: Projection<{ value: string }, string>;

  /** `row` is the value of the column's primary key. The table has no other column that must be set. */
  constructor({ db, secrets, log }: Needs, column: SealedColumn, row: string) {
    this.#needs = { db, secrets, log };
    this.#column = column;
    this.#row = row;
    this.#memory = db.projection<{ value: string }, string>({
      load: async () => ({ value: (await this.#stored(db)) ?? '' }),
      apply: (state, value) => void (state.value = value),
    });
  }

  /** 32 bytes in base64url; blank before the first `make`. */
  get value(): string {
    return this.#memory.state.value;
  }

  /** Makes it, unless this panel or another one has. */
  async make(): Promise<string> {
    for (let attempt = 1; this.value === ''; attempt++)
      try {
        await this.#needs.db.write((tx) => this.#makeIn(tx));
      } catch (error) {
        // Another panel of the database came at the same moment, and has made it.
        const isBusy = error instanceof PanelError && error.code === kernelErrors.DATABASE_BUSY.code;
        if (!isBusy || attempt === MOST_ATTEMPTS) throw error;
      }
    return this.value;
  }

  async #makeIn(tx: Tx): Promise<void> {
    const { table, key, column } = this.#column;
    let value = await this.#stored(tx);
    if (value === undefined) {
      value = randomBytes(32).toString('base64url');
      const sealed = this.#needs.secrets.seal(this.#column, this.#row, value);
      await tx.run(`DELETE FROM ${table} WHERE ${key} = :row`, { row: this.#row });
      await tx.run(`INSERT INTO ${table} (${key}, ${column}) VALUES (:row, :sealed)`, {
        row: this.#row,
        sealed,
      });
    }
    tx.apply(this.#memory, value);
  }

  /** Undefined also where it cannot be opened, because its key was given up: another one is made then. */
  async #stored(from: Pick<Tx, 'query'> | Pick<Database, 'query'>): Promise<string | undefined> {
    const { table, key, column } = this.#column;
    const [row] = await from.query<{ sealed: string }>(
      `SELECT ${column} AS sealed FROM ${table} WHERE ${key} = :row`,
      { row: this.#row },
    );
    try {
      return row && this.#needs.secrets.open(this.#column, this.#row, row.sealed);
    } catch (error) {
      this.#needs.log.warn('a secret cannot be read, so another one is made when it is needed', {
        reason: messageOf(error),
      });
      return undefined;
    }
  }
}
