// The panels that live: each signs every two seconds, with its version. Whether another one has signed, this panel sees by a
// sign that has changed: the servers of a database have a clock each, and none of them is compared with another.
import type { Database, Tx } from '../../kernel/index.js';
import { NOW } from './database-clock.js';
import { isOlder, PANEL_VERSION } from './panel-version.js';

/** A panel that has not signed for so long is taken for dead. */
const ALIVE_MS = 10_000;

const SIGN = `INSERT INTO cluster_panels (name, holder, version, seen_at) VALUES (:name, :holder, :version, ${NOW})
  ON DUPLICATE KEY UPDATE holder = :holder, version = :version, seen_at = ${NOW}`;
const OTHERS = `SELECT name, version, seen_at AS sign, seen_at > ${NOW} - ${ALIVE_MS} AS isRecent FROM cluster_panels
  WHERE name <> :name ORDER BY name`;

/** Panels would have to start this often while one of them lives for two to have the same number. */
const NUMBERS = 1_023;

interface SignedPanel {
  readonly name: string;
  readonly version: string;
  /** differs from the last one's */
  readonly sign: number;
  /** by the clock of the database; all there is to say of a sign that was not seen before */
  readonly isRecent: number;
}

/** Which panels live, by their signs and the monotonic clock of this process. */
export class Signs {
  #seen = new Map<string, { readonly sign: number; readonly at: number }>();

  /** `rows` has the last sign of each panel, `now` is in ms. Returns those that live, in the same order. */
  living<T extends SignedPanel>(rows: readonly T[], now: number): readonly T[] {
    const before = this.#seen;
    this.#seen = new Map();
    return rows.filter(({ name, sign, isRecent }) => {
      const known = before.get(name);
      const first = isRecent ? now : Number.NEGATIVE_INFINITY;
      const at = known === undefined ? first : known.sign === Number(sign) ? known.at : now;
      this.#seen.set(name, { sign: Number(sign), at });
      return now - at < ALIVE_MS;
    });
  }
}

export class Roll {
  readonly #db: Database;
  readonly #name: string;
  readonly #signs = new Signs();
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
    await this.#read(tx);
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
    await this.#read(this.#db).catch(() => undefined);
    return this.others;
  }

  async #read(from: Pick<Tx, 'query'> | Pick<Database, 'query'>): Promise<void> {
    const rows = await from.query<SignedPanel>(OTHERS, { name: this.#name });
    this.others = this.#signs.living(rows, performance.now());
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
