// The panels that live: each signs every two seconds, with its version.
import type { Database, Tx } from '../../kernel/index.js';
import { NOW } from './database-clock.js';
import { isOlder, PANEL_VERSION } from './panel-version.js';

/** A panel that has not signed for so long is taken for dead. */
export const ALIVE_MS = 10_000;

const SIGN = `INSERT INTO cluster_panels (name, holder, version, seen_at) VALUES (:name, :holder, :version, ${NOW})
  ON DUPLICATE KEY UPDATE holder = :holder, version = :version, seen_at = ${NOW}`;
const OTHERS = `SELECT name, version FROM cluster_panels WHERE name <> :name AND seen_at > ${NOW} - ${ALIVE_MS} ORDER BY name`;

/** Panels would have to start this often while one of them lives for two to have the same number. */
const NUMBERS = 1_023;

export interface SignedPanel {
  readonly name: string;
  readonly version: string;
}

export class Roll {
  readonly #db: Database;
  readonly #name: string;
  /** as of the last sign of this panel */
  others: readonly SignedPanel[] = [];
  /** of this start, from 1 to 1,023 */
  number = 0;

  constructor({ db, config }: { db: Database; config: { readonly name?: string | undefined } }) {
    this.#db = db;
    this.#name = config.name ?? '';
  }

  /** Signs, and reads who else does. */
  async sign(tx: Tx, holder: string): Promise<void> {
    await tx.run(SIGN, { name: this.#name, holder, version: PANEL_VERSION });
    this.others = await tx.query<SignedPanel>(OTHERS, { name: this.#name });
  }

  /** Takes a number that no other panel has. */
  async count(): Promise<void> {
    const [state] = await this.#db.write(async (tx) => {
      await tx.run('UPDATE cluster_state SET starts = starts + 1 WHERE id = 1');
      return tx.query<{ starts: number }>('SELECT starts FROM cluster_state WHERE id = 1');
    });
    this.number = (Number(state?.starts) % NUMBERS) + 1;
  }

  /** Notes that no panel older than this may use the database from now on. */
  async refuseOlder(version: string): Promise<void> {
    const [state] = await this.#db.query<{ oldest: string }>('SELECT oldest FROM cluster_state WHERE id = 1');
    if (!isOlder(state?.oldest ?? '', version)) return;
    await this.#db.write((tx) =>
      tx.run('UPDATE cluster_state SET oldest = :version WHERE id = 1', { version }),
    );
  }

  /** Reads who else lives now; while the database fails, it stays what it was. */
  async look(): Promise<readonly SignedPanel[]> {
    this.others = await this.#db.query<SignedPanel>(OTHERS, { name: this.#name }).catch(() => this.others);
    return this.others;
  }

  /** This panel is none of them any more. */
  async strike(holder: string): Promise<void> {
    await this.#db.write((tx) =>
      tx.run('DELETE FROM cluster_panels WHERE name = :name AND holder = :holder', {
        name: this.#name,
        holder,
      }),
    );
  }
}
