// The people who administer the panel, and their passwords: argon2id, or bcrypt until the first login of one that comes from
// another panel.
import { hash, verify } from '@node-rs/argon2';
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import { Op, UniqueConstraintError } from 'sequelize';
import { isBcrypt, verifyBcrypt } from './bcrypt-thread.js';
import { type AdminChange, duringAdminSave } from './contract.js';
import { errors } from './errors.js';
import { type Admin, type AdminEdit, factsOf, type KnownAdmin, knownOf } from './known-admin.js';
import type { PasswordQueue } from './password-queue.js';
import type { AccessTables } from './tables.js';

// OWASP's second choice for argon2id: 19 MiB, two passes; about 20 ms here.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** Hash that is checked for unknown names, so that they take as long as known ones. */
const UNKNOWN_ADMIN = hash('nobody', COST);

export class Admins {
  readonly #db: Database;
  readonly #rows: AccessTables['admins'];
  readonly #clock: Clock;
  readonly #queue: PasswordQueue;
  readonly projection: Projection<Map<number, KnownAdmin>, AdminEdit>;

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
    this.projection = db.projection<Map<number, KnownAdmin>, AdminEdit>({
      load: async () => new Map((await this.read()).map((row) => [row.id, row])),
      apply: (known, edit) => {
        if ('deleted' in edit) for (const id of edit.deleted) known.delete(id);
        else for (const row of edit.rows) known.set(row.id, row);
      },
    });
  }

  /** Of at most a few dozen. */
  named(username: string): KnownAdmin | undefined {
    for (const admin of this.projection.state.values()) if (admin.username === username) return admin;
    return undefined;
  }

  /** Reads the database: inside a write the projection may lack the write before it. */
  async read(tx?: Tx): Promise<KnownAdmin[]> {
    const rows = await this.#rows.findAll({ raw: true, order: ['id'], transaction: tx?.t ?? null });
    return (rows as unknown as KnownAdmin[]).map(knownOf);
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#rows.count()) === 0;
  }

  async create(username: string, password: string, who: Principal): Promise<void> {
    const passwordHash = await this.hash(password);
    await this.#db.write((tx) => this.add(tx, { username, passwordHash }, who));
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
    return isRight && admin?.enabled ? this.#withOwnHash(admin, password) : undefined;
  }

  /** Checks the password of the admin with this id. */
  async isPassword(password: string, id: number): Promise<boolean> {
    const admin = await this.#find({ id });
    if (admin === undefined) return false;
    return this.#queue.run(() => this.#verify(admin, password), { isStranger: false });
  }

  /** Returns the admin with this id, as the database has it now. */
  withId(id: number): Promise<Admin | undefined> {
    return this.#find({ id });
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
      await this.#db.write((tx) => this.add(tx, { username, passwordHash }, who));
    } catch (error) {
      throw takenAs('username', error);
    }
  }
  async has(username: string): Promise<boolean> {
    return (await this.#rows.count({ where: { username } })) > 0;
  }

  /** Checks that name and password have not changed since this admin was read, and that nobody has disabled it. */
  async isUnchanged({ id, username, passwordHash }: Admin): Promise<boolean> {
    return (await this.#rows.count({ where: { id, username, passwordHash, enabled: true } })) === 1;
  }

  /** Returns false, and changes nothing, if another call has changed the password meanwhile. */
  async change(
    tx: Tx,
    { id, passwordHash }: Admin,
    to: Pick<Admin, 'username' | 'passwordHash'>,
    who: Principal,
  ): Promise<boolean> {
    const row = await this.#rows.findOne({ where: { id, passwordHash }, transaction: tx.t, raw: true });
    if (!row) return false;
    await this.update(tx, knownOf(row as unknown as Admin), to, who);
    return true;
  }

  /** Changes what is given of an admin. Rejects with a UniqueConstraintError for a name that is taken. */
  async update(
    tx: Tx,
    before: KnownAdmin,
    to: Partial<Pick<Admin, 'username' | 'passwordHash' | 'roleId' | 'enabled'>>,
    who: Principal,
  ): Promise<KnownAdmin> {
    await this.#rows.update(to, { where: { id: before.id }, transaction: tx.t });
    const after = knownOf({ ...before, ...to });
    tx.apply(this.projection, { rows: [after] });
    await tx.during(duringAdminSave, {
      changes: [
        {
          kind: 'updated',
          id: before.id,
          before: factsOf(before),
          after: factsOf(after),
          setsPassword: to.passwordHash !== undefined,
        },
      ],
      who,
    });
    return after;
  }

  async delete(tx: Tx, gone: readonly KnownAdmin[], who: Principal): Promise<void> {
    const deleted = gone.map(({ id }) => id);
    await this.#rows.destroy({ where: { id: deleted }, transaction: tx.t });
    tx.apply(this.projection, { deleted });
    const changes = gone.map(
      (admin): AdminChange => ({
        kind: 'deleted',
        id: admin.id,
        before: factsOf(admin),
        after: undefined,
        setsPassword: false,
      }),
    );
    await tx.during(duringAdminSave, { changes, who });
  }

  /** Replaces all admins with one. */
  async replaceAll(tx: Tx, by: Pick<Admin, 'username' | 'passwordHash'>, who: Principal): Promise<void> {
    await this.delete(tx, await this.read(tx), who);
    await this.add(tx, by, who);
  }

  /** Marks the step of a two-factor code of an admin as used; false when it, or a later one, was used already, at whichever panel. */
  spendStep(id: number, step: number): Promise<boolean> {
    return this.#db.write(async (tx) => {
      const [changed] = await this.#rows.update(
        { codeStep: step },
        { where: { id, codeStep: { [Op.lt]: step } }, transaction: tx.t },
      );
      return changed > 0;
    });
  }

  /** Adds an admin, a full one without a role. Rejects with a UniqueConstraintError for a name that is taken. */
  async add(
    tx: Tx,
    { username, passwordHash, roleId = 0 }: Pick<Admin, 'username' | 'passwordHash'> & { roleId?: number },
    who: Principal,
  ): Promise<KnownAdmin> {
    const values = { username, createdAt: this.#clock.now(), roleId, enabled: true };
    const row = await this.#rows.create({ ...values, passwordHash, codeStep: 0 }, { transaction: tx.t });
    const added = { ...values, id: Number(row.get('id')) };
    tx.apply(this.projection, { rows: [added] });
    const facts = { before: undefined, after: factsOf(values), setsPassword: true };
    await tx.during(duringAdminSave, { changes: [{ kind: 'added', id: added.id, ...facts }], who });
    return added;
  }
}

/** The error of a write that gives an admin a name: ADMIN_TAKEN with this path, or the error itself. */
export const takenAs = (path: string, error: unknown): unknown =>
  error instanceof UniqueConstraintError ? errors.ADMIN_TAKEN(undefined, { path, cause: error }) : error;
