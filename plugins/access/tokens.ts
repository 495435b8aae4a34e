// API tokens: full-admin credentials for programs, known only by their digest.
import { hash, randomBytes } from 'node:crypto';
import { UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type Principal,
  type Projection,
  refuseHidden,
  type Row,
  type Tx,
} from '../../kernel/index.js';
import { duringTokenSave, type TokenChange, type TokenFacts } from './contract.js';
import { errors } from './errors.js';
import type { AccessTables, tables } from './tables.js';

type TokenRow = Row<typeof tables.tokens>;
/** What the API shows of a token. */
export type TokenView = Omit<TokenRow, 'digest'>;

/** With its text, which only its digest is stored of. */
export type NewToken = TokenView & { readonly token: string };

/** Rows that were written, the digest of one that was deleted, or the last uses: Unix seconds by id. */
type TokenEdit =
  | { readonly rows: readonly TokenRow[] }
  | { readonly deleted: string }
  | { readonly used: ReadonlyMap<number, number> };

/** In one call: a hash object would cost more than the hashing, at every request. */
const digestOf = (token: string): string => hash('sha256', token);
/** A use is noted, and written, at most once in so many seconds for each token. */
const USED_EVERY_S = 60;

const factsOf = ({ id, name, kind, enabled, expiresAt }: TokenRow): TokenFacts => ({
  id,
  name,
  kind,
  enabled,
  expiresAt,
});
/** MariaDB gives 1 and 0 for booleans. */
const rowOf = (stored: TokenRow): TokenRow => ({ ...stored, enabled: Boolean(stored.enabled) });

export class Tokens {
  readonly #db: Database;
  readonly #rows: AccessTables['tokens'];
  readonly #clock: Clock;
  /** all tokens by digest: a request costs no query */
  readonly projection: Projection<Map<string, TokenRow>, TokenEdit>;
  /** Unix seconds of the last uses that are not written yet, by id */
  readonly #used = new Map<number, number>();

  constructor({ db, tables: { tokens }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tokens;
    this.#clock = clock;
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

  list(): TokenView[] {
    return [...this.projection.state.values()].map((row) => this.#view(row));
  }

  /** Returns the token if it is enabled and not expired, and counts this as a use. Looking up a digest tells an attacker nothing about the token. */
  use(token: string): Pick<TokenRow, 'id' | 'name' | 'kind'> | undefined {
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
    name: string,
    expiresAt: number,
    who: Principal,
    note?: (facts: NewToken) => void,
    kind = '',
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
  async adopt(values: Omit<TokenRow, 'id' | 'lastUsedAt'>, who: Principal): Promise<void> {
    refuseHidden('name', values.name, 'name');
    await this.#add({ ...values, lastUsedAt: 0 }, who, () => undefined);
  }

  async #add<T>(values: Omit<TokenRow, 'id'>, who: Principal, done: (row: TokenRow) => T): Promise<T> {
    try {
      return await this.#db.write(async (tx) => {
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

  async setEnabled(id: number, enabled: boolean, who: Principal): Promise<void> {
    await this.#db.write(async (tx) => this.#enable(tx, [await this.#one(tx, id)], enabled, who));
  }

  async delete(id: number, who: Principal): Promise<void> {
    await this.#db.write(async (tx) => {
      const row = await this.#one(tx, id);
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      tx.apply(this.projection, { deleted: row.digest });
      await this.#report(tx, [{ kind: 'deleted', before: factsOf(row), after: undefined }], who);
    });
  }

  /** Disables every API token within a write of the caller's; returns how many were enabled. */
  async disableAll(tx: Tx, who: Principal): Promise<number> {
    const enabled = (await this.#read(tx)).filter((row) => row.enabled);
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
  async #one(tx: Tx, id: number): Promise<TokenRow> {
    const row = await this.#rows.findByPk(id, { transaction: tx.t, raw: true });
    if (!row) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
    return rowOf(row as unknown as TokenRow);
  }

  async #read(tx?: Tx): Promise<TokenRow[]> {
    const rows = await this.#rows.findAll({ raw: true, order: ['id'], transaction: tx?.t ?? null });
    return (rows as unknown as TokenRow[]).map(rowOf);
  }

  #report(tx: Tx, changes: readonly TokenChange[], who: Principal): Promise<void> {
    return tx.during(duringTokenSave, { changes, who });
  }

  #view({ digest: _, ...row }: TokenRow): TokenView {
    return { ...row, lastUsedAt: this.#used.get(row.id) ?? row.lastUsedAt };
  }
}
