// API tokens: credentials for programs, known only by their digest. One may do what its role and its maker both may.
import { randomBytes } from 'node:crypto';
import { UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type Principal,
  type Projection,
  refuseHidden,
  type Tx,
} from '../../kernel/index.js';
import type { Admins } from './admins.js';
import { duringTokenSave, type TokenChange } from './contract.js';
import { errors } from './errors.js';
import type { KnownRoles } from './known-roles.js';
import type { AccessTables } from './tables.js';
import {
  digestOf,
  factsOf,
  type NewToken,
  rowOf,
  type TokenEdit,
  type TokenRow,
  type TokenView,
  type TokenWish,
} from './token-row.js';

/** A use is noted, and written, at most once in so many seconds for each token. */
const USED_EVERY_S = 60;

export class Tokens {
  readonly #db: Database;
  readonly #rows: AccessTables['tokens'];
  readonly #clock: Clock;
  readonly #admins: Pick<Admins, 'projection'>;
  readonly #roles: Pick<KnownRoles, 'requireKnown'>;
  /** all tokens by digest: a request costs no query */
  readonly projection: Projection<Map<string, TokenRow>, TokenEdit>;
  /** Unix seconds of the last uses that are not written yet, by id */
  readonly #used = new Map<number, number>();

  constructor({
    db,
    tables: { tokens },
    clock,
    admins,
    roles,
  }: {
    db: Database;
    tables: AccessTables;
    clock: Clock;
    admins: Pick<Admins, 'projection'>;
    roles: Pick<KnownRoles, 'requireKnown'>;
  }) {
    this.#db = db;
    this.#rows = tokens;
    this.#clock = clock;
    this.#admins = admins;
    this.#roles = roles;
    this.projection = db.projection<Map<string, TokenRow>, TokenEdit>({
      load: async () => new Map((await this.#read()).map((row) => [row.digest, row])),
      apply: (known, edit) => {
        if ('deleted' in edit) known.delete(edit.deleted);
        else if ('rows' in edit) for (const row of edit.rows) known.set(row.digest, row);
        else
          for (const [digest, row] of known)
            known.set(digest, { ...row, lastUsedAt: edit.used.get(row.id) ?? row.lastUsedAt });
      },
    });
  }

  /** All tokens, or those that an admin has made. */
  list(maker?: number): TokenView[] {
    const rows = [...this.projection.state.values()];
    return rows.filter((row) => maker === undefined || row.makerId === maker).map((row) => this.#view(row));
  }

  /** The token of this name. Of a few dozen. */
  named(name: string): TokenRow | undefined {
    for (const row of this.projection.state.values()) if (row.name === name) return row;
    return undefined;
  }

  /** Returns the token if it is enabled and not expired, and counts this as a use. Looking up a digest tells an attacker nothing about the token. */
  use(token: string): TokenRow | undefined {
    const row = this.projection.state.get(digestOf(token));
    const now = this.#clock.now();
    if (!row?.enabled || (row.expiresAt !== 0 && row.expiresAt <= now)) return undefined;
    const second = Math.floor(now / 1000);
    if (second >= (this.#used.get(row.id) ?? row.lastUsedAt) + USED_EVERY_S) this.#used.set(row.id, second);
    return row;
  }

  /** Writes the last uses since the previous call, in one statement for all tokens. */
  async flush(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = new Map(this.#used);
    await this.#db.write(async (tx) => {
      const rows = tx.sql.rows({ id: 'integer', at: 'integer' });
      await tx.run(
        `UPDATE api_tokens SET last_used_at = (SELECT j.at FROM ${rows} AS j WHERE j.id = api_tokens.id)
         WHERE id IN (SELECT j.id FROM ${rows} AS j)`,
        { rows: JSON.stringify([...used]) },
      );
      tx.apply(this.projection, { used });
    });
    for (const [id, at] of used) if (this.#used.get(id) === at) this.#used.delete(id);
  }

  /** Creates a token; its text is in this result and nowhere else. */
  async create(
    { name, expiresAt, kind = '', role = 0, maker = 0 }: TokenWish,
    who: Principal,
    note?: (facts: NewToken) => void,
  ): Promise<NewToken> {
    if (expiresAt !== 0 && expiresAt <= this.#clock.now())
      throw errors.TOKEN_EXPIRED(undefined, { path: 'expiresAt' });
    // Two names that look alike would hide a token among those that the admin knows.
    refuseHidden('name', name, 'name');
    const token = randomBytes(36).toString('base64url');
    const values = {
      name,
      digest: digestOf(token),
      enabled: true,
      createdAt: Math.floor(this.#clock.now() / 1000),
      expiresAt,
      lastUsedAt: 0,
      kind,
      roleId: role,
      makerId: maker,
    };
    return this.#add(values, who, (row) => {
      const created = { ...this.#view(row), token };
      note?.(created);
      return created;
    });
  }

  /** Whether a token has this digest. */
  has(digest: string): boolean {
    return this.projection.state.has(digest);
  }

  /** Adds a token of another panel, of which only the digest is known. Rejects with TOKEN_NAME_TAKEN. */
  async adopt(
    values: Omit<TokenRow, 'id' | 'lastUsedAt' | 'roleId' | 'makerId'>,
    who: Principal,
  ): Promise<void> {
    refuseHidden('name', values.name, 'name');
    await this.#add({ ...values, lastUsedAt: 0, roleId: 0, makerId: 0 }, who, () => undefined);
  }

  async #add<T>(values: Omit<TokenRow, 'id'>, who: Principal, done: (row: TokenRow) => T): Promise<T> {
    try {
      return await this.#db.write(async (tx) => {
        if (values.roleId !== 0) await this.#roles.requireKnown(tx, values.roleId, 'role');
        const stored = await this.#rows.create(values, { transaction: tx.t });
        const row: TokenRow = { ...values, id: Number(stored.get('id')) };
        tx.apply(this.projection, { rows: [row] });
        await this.#report(tx, [{ kind: 'added', before: undefined, after: factsOf(row) }], who);
        return done(row);
      });
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.TOKEN_NAME_TAKEN(
          `another API token has the name "${values.name}"; choose another name`,
          { path: 'name' },
        );
      throw error;
    }
  }

  /** With a maker, a token of another one counts as missing. */
  async setEnabled(id: number, enabled: boolean, who: Principal, maker?: number): Promise<void> {
    await this.#db.write(async (tx) => this.#enable(tx, [await this.#one(tx, id, maker)], enabled, who));
  }

  /** With a maker, a token of another one counts as missing. */
  async delete(id: number, who: Principal, maker?: number): Promise<void> {
    await this.#db.write(async (tx) => this.#delete(tx, [await this.#one(tx, id, maker)], who));
  }

  /** Deletes the tokens that these admins have made: nobody is left whose rights bound theirs. */
  async deleteOf(tx: Tx, makers: readonly number[], who: Principal): Promise<void> {
    await this.#delete(
      tx,
      (await this.#read(tx)).filter(({ makerId }) => makers.includes(makerId)),
      who,
    );
  }

  /** Leaves the tokens of these admins without a maker: they keep all that their role allows. */
  async release(tx: Tx, makers: readonly number[]): Promise<void> {
    const rows = (await this.#read(tx)).filter(({ makerId }) => makers.includes(makerId));
    await this.#rows.update({ makerId: 0 }, { where: { makerId: [...makers] }, transaction: tx.t });
    tx.apply(this.projection, { rows: rows.map((row) => ({ ...row, makerId: 0 })) });
  }

  async #delete(tx: Tx, rows: readonly TokenRow[], who: Principal): Promise<void> {
    if (rows.length === 0) return;
    await this.#rows.destroy({ where: { id: rows.map(({ id }) => id) }, transaction: tx.t });
    for (const { digest } of rows) tx.apply(this.projection, { deleted: digest });
    const changes = rows.map(
      (row): TokenChange => ({ kind: 'deleted', before: factsOf(row), after: undefined }),
    );
    await this.#report(tx, changes, who);
  }

  /** Disables every API token, or those that an admin has made, within a write of the caller's; returns how many were enabled. */
  async disableAll(tx: Tx, who: Principal, maker?: number): Promise<number> {
    const enabled = (await this.#read(tx)).filter(
      (row) => row.enabled && (maker === undefined || row.makerId === maker),
    );
    if (enabled.length > 0) await this.#enable(tx, enabled, false, who);
    return enabled.length;
  }

  async #enable(tx: Tx, before: readonly TokenRow[], enabled: boolean, who: Principal): Promise<void> {
    const id = before.map((row) => row.id);
    await this.#rows.update({ enabled }, { where: { id }, transaction: tx.t });
    const rows = before.map((row) => ({ ...row, enabled }));
    tx.apply(this.projection, { rows });
    const changes = before.map(
      (row): TokenChange => ({
        kind: 'updated',
        before: factsOf(row),
        after: { ...factsOf(row), enabled },
      }),
    );
    await this.#report(tx, changes, who);
  }

  /** Reads the database: inside a write the projection may lack the write before it. */
  async #one(tx: Tx, id: number, maker?: number): Promise<TokenRow> {
    const row = await this.#rows.findByPk(id, { transaction: tx.t, raw: true });
    if (!row || (maker !== undefined && (row as unknown as TokenRow).makerId !== maker))
      throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
    return rowOf(row as unknown as TokenRow);
  }

  async #read(tx?: Tx): Promise<TokenRow[]> {
    const rows = await this.#rows.findAll({ raw: true, order: ['id'], transaction: tx?.t ?? null });
    return (rows as unknown as TokenRow[]).map(rowOf);
  }

  #report(tx: Tx, changes: readonly TokenChange[], who: Principal): Promise<void> {
    return tx.during(duringTokenSave, { changes, who });
  }

  #view({ digest: _, roleId: role, makerId, ...row }: TokenRow): TokenView {
    const maker = this.#admins.projection.state.get(makerId)?.username ?? '';
    return { ...row, role, maker, lastUsedAt: this.#used.get(row.id) ?? row.lastUsedAt };
  }
}
