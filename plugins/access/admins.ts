// The people who administer the panel, and their passwords (argon2id).
import { hash, verify } from '@node-rs/argon2';
import type { Clock, Database } from '../../kernel/index.js';
import type { AccessTables } from './tables.js';

// OWASP's second choice for argon2id: 19 MiB, two passes; about 20 ms here.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Checked for unknown names, so that they take as long as known ones. */
const NOBODY = hash('nobody', COST);
const MOST_AT_ONCE = 4;

export class Admins {
  readonly #db: Database;
  readonly #rows: AccessTables['admins'];
  readonly #clock: Clock;
  #checking = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ db, tables, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tables.admins;
    this.#clock = clock;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#rows.count()) === 0;
  }

  async create(username: string, password: string): Promise<void> {
    const passwordHash = await hash(password, COST);
    await this.#db.write(async (tx) => void (await this.#rows.create({ username, passwordHash, createdAt: this.#clock.now() }, { transaction: tx.t })));
  }

  /** Takes the same time whether the name exists or not. */
  async isPasswordOf(username: string, password: string): Promise<boolean> {
    const row = await this.#rows.findOne({ where: { username }, raw: true });
    const stored = (row as unknown as { passwordHash: string } | null)?.passwordHash;
    const fits = await this.#oneOfFew(async () => verify(stored ?? (await NOBODY), password));
    return fits && stored !== undefined;
  }

  /** Each check takes 19 MiB: a flood of logins must not take them all at once. */
  async #oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (this.#checking >= MOST_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#checking++;
    try {
      return await work();
    } finally {
      this.#checking--;
      this.#waiting.shift()?.();
    }
  }
}
