// The people who administer the panel, and their passwords (argon2id).
import { hash, verify } from '@node-rs/argon2';
import type { Clock, Database, Row, Tx } from '../../kernel/index.js';
import { Op } from 'sequelize';
import type { AccessTables, tables } from './tables.js';

export type Admin = Row<typeof tables.admins>;

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
    const passwordHash = await this.hash(password);
    await this.#db.write((tx) => this.#insert(tx, { username, passwordHash }));
  }

  hash(password: string): Promise<string> {
    return this.#oneOfFew(() => hash(password, COST));
  }

  /** The admin whom name and password belong to. Takes the same time whether the name exists or not. */
  async withPassword(username: string, password: string): Promise<Admin | undefined> {
    const admin = (await this.#rows.findOne({ where: { username }, raw: true })) as unknown as Admin | null;
    const fits = await this.#oneOfFew(async () => verify(admin?.passwordHash ?? (await NOBODY), password));
    return fits && admin ? admin : undefined;
  }

  /** Whether it is the admin's, for callers who have no name of their own, like programs with a token. */
  async isPassword(password: string): Promise<boolean> {
    const admin = (await this.#rows.findOne({ order: ['id'], raw: true })) as unknown as Admin | null;
    return admin !== null && this.#oneOfFew(() => verify(admin.passwordHash, password));
  }

  /** Whether name and password are still those that this admin was found with. */
  async isUnchanged({ id, username, passwordHash }: Admin): Promise<boolean> {
    return (await this.#rows.count({ where: { id, username, passwordHash } })) === 1;
  }

  /** False when somebody else was faster; nothing is changed then. */
  async change(
    tx: Tx,
    { id, passwordHash }: Admin,
    to: Pick<Admin, 'username' | 'passwordHash'>,
  ): Promise<boolean> {
    const [changed] = await this.#rows.update(to, { where: { id, passwordHash }, transaction: tx.t });
    return changed === 1;
  }

  /** One admin instead of all there are. */
  async replaceAll(tx: Tx, by: Pick<Admin, 'username' | 'passwordHash'>): Promise<void> {
    await this.#rows.destroy({ where: {}, transaction: tx.t });
    await this.#insert(tx, by);
  }

  /** Marks the step of a two-factor code as used; false when it, or a later one, was used already. */
  spendStep(step: number): Promise<boolean> {
    return this.#db.write(async (tx) => {
      const [changed] = await this.#rows.update(
        { codeStep: step },
        { where: { codeStep: { [Op.lt]: step } }, transaction: tx.t },
      );
      return changed > 0;
    });
  }

  async #insert(tx: Tx, { username, passwordHash }: Pick<Admin, 'username' | 'passwordHash'>): Promise<void> {
    await this.#rows.create(
      { username, passwordHash, createdAt: this.#clock.now(), codeStep: 0 },
      { transaction: tx.t },
    );
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
