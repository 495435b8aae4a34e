// The people who administer the panel, and their passwords: argon2id, or bcrypt until the first login of one that comes from
// another panel.
import { hash, verify } from '@node-rs/argon2';
import type { Clock, Database, Principal, Row, Tx } from '../../kernel/index.js';
import { Op, UniqueConstraintError } from 'sequelize';
import { isBcrypt, verifyBcrypt } from './bcrypt-thread.js';
import { type AdminChange, duringAdminSave } from './contract.js';
import { errors } from './errors.js';
import type { PasswordQueue } from './password-queue.js';
import type { AccessTables, tables } from './tables.js';

export type Admin = Row<typeof tables.admins>;

// OWASP's second choice for argon2id: 19 MiB, two passes; about 20 ms here.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Hash that is checked for unknown names, so that they take as long as known ones. */
const UNKNOWN_ADMIN = hash('nobody', COST);

export class Admins {
  readonly #db: Database;
  readonly #rows: AccessTables['admins'];
  readonly #clock: Clock;
  readonly #queue: PasswordQueue;

  constructor({
    db,
    tables,
    clock,
    queue,
  }: { db: Database; tables: AccessTables; clock: Clock; queue: PasswordQueue }) {
    this.#db = db;
    this.#rows = tables.admins;
    this.#clock = clock;
    this.#queue = queue;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#rows.count()) === 0;
  }

  async create(username: string, password: string, who: Principal): Promise<void> {
    const passwordHash = await this.hash(password);
    await this.#db.write((tx) => this.#insert(tx, { username, passwordHash }, who));
  }

  hash(password: string): Promise<string> {
    return this.#queue.run(() => hash(password, COST), { isStranger: false });
  }

  /** Returns the admin with this name and password. Takes the same time whether the name exists or not. Strangers wait for all other callers. */
  async withPassword(
    username: string,
    password: string,
    caller: { readonly isStranger: boolean },
  ): Promise<Admin | undefined> {
    const admin = await this.#find({ username });
    const isRight = await this.#queue.run(() => this.#verify(admin, password), caller);
    return isRight && admin ? this.#withOwnHash(admin, password) : undefined;
  }

  /** Checks the admin's password alone, for callers without a user name, like programs with a token. */
  async isPassword(password: string): Promise<boolean> {
    const admin = await this.#find({});
    if (admin === undefined) return false;
    return this.#queue.run(() => this.#verify(admin, password), { isStranger: false });
  }

  async #find(where: { readonly username?: string; readonly id?: number }): Promise<Admin | undefined> {
    const row = await this.#rows.findOne({ where, order: ['id'], raw: true });
    return (row as unknown as Admin | null) ?? undefined;
  }

  /** While one admin has a hash of bcrypt, all checks take the time of both kinds: the time must not tell who exists. */
  async #verify(admin: Admin | undefined, password: string): Promise<boolean> {
    const older = (await this.#rows.findOne({
      where: { passwordHash: { [Op.like]: '$2%' } },
      raw: true,
    })) as unknown as Admin | null;
    const isOlder = admin !== undefined && isBcrypt(admin.passwordHash);
    const own = isOlder ? undefined : admin?.passwordHash;
    const isOwn = await verify(own ?? (await UNKNOWN_ADMIN), password);
    if (!older) return isOwn;
    const isOlderRight = await verifyBcrypt(isOlder ? admin.passwordHash : older.passwordHash, password);
    return isOlder ? isOlderRight : isOwn;
  }

  /** Replaces a hash of bcrypt, now that the password is known. */
  async #withOwnHash(admin: Admin, password: string): Promise<Admin | undefined> {
    if (!isBcrypt(admin.passwordHash)) return admin;
    const passwordHash = await this.hash(password);
    const { id, username } = admin;
    const count = await this.#db.write(async (tx) => {
      const [changed] = await this.#rows.update(
        { passwordHash },
        { where: { id, username, passwordHash: admin.passwordHash }, transaction: tx.t },
      );
      return changed;
    });
    if (count === 1) return { ...admin, passwordHash };
    // Another login has replaced it, or another call has changed name or password.
    const now = await this.#find({ id });
    return now?.username === username &&
      !isBcrypt(now.passwordHash) &&
      (await verify(now.passwordHash, password))
      ? now
      : undefined;
  }

  /** Adds an admin of another panel. Rejects with ADMIN_TAKEN. */
  async addOlder(username: string, passwordHash: string, who: Principal): Promise<void> {
    try {
      await this.#db.write((tx) => this.#insert(tx, { username, passwordHash }, who));
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.ADMIN_TAKEN(undefined, { path: 'username', cause: error });
      throw error;
    }
  }
  async has(username: string): Promise<boolean> {
    return (await this.#rows.count({ where: { username } })) > 0;
  }

  /** Checks that name and password have not changed since this admin was read. */
  async isUnchanged({ id, username, passwordHash }: Admin): Promise<boolean> {
    return (await this.#rows.count({ where: { id, username, passwordHash } })) === 1;
  }

  /** Returns false, and changes nothing, if another call has changed the password meanwhile. */
  async change(
    tx: Tx,
    { id, username, passwordHash }: Admin,
    to: Pick<Admin, 'username' | 'passwordHash'>,
    who: Principal,
  ): Promise<boolean> {
    const [changed] = await this.#rows.update(to, { where: { id, passwordHash }, transaction: tx.t });
    if (changed !== 1) return false;
    const change = { kind: 'updated', before: { username }, after: { username: to.username } } as const;
    await tx.during(duringAdminSave, { changes: [change], who });
    return true;
  }

  /** Replaces all admins with one. */
  async replaceAll(tx: Tx, by: Pick<Admin, 'username' | 'passwordHash'>, who: Principal): Promise<void> {
    const all = (await this.#rows.findAll({ raw: true, transaction: tx.t })) as unknown as Admin[];
    await this.#rows.destroy({ where: {}, transaction: tx.t });
    await tx.during(duringAdminSave, {
      changes: all.map(
        ({ username }): AdminChange => ({
          kind: 'deleted',
          before: { username },
          after: undefined,
        }),
      ),
      who,
    });
    await this.#insert(tx, by, who);
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

  async #insert(
    tx: Tx,
    { username, passwordHash }: Pick<Admin, 'username' | 'passwordHash'>,
    who: Principal,
  ): Promise<void> {
    await this.#rows.create(
      { username, passwordHash, createdAt: this.#clock.now(), codeStep: 0 },
      { transaction: tx.t },
    );
    const change = { kind: 'added', before: undefined, after: { username } } as const;
    await tx.during(duringAdminSave, { changes: [change], who });
  }
}
