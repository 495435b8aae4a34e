// API tokens: full-admin credentials for programs, known only by their digest.
import { hash, randomBytes } from 'node:crypto';
import { UniqueConstraintError } from 'sequelize';
import {
  after,
  type Clock,
  type Database,
  type Principal,
  refuseHidden,
  type Row,
  type Tx,
} from '../../kernel/index.js';
import { duringTokenSave, type TokenChange, type TokenFacts } from './contract.js';
import { errors } from './errors.js';
import type { AccessTables, tables } from './tables.js';

type TokenRow = Row<typeof tables.tokens>;
/** What the API shows of a token. */
export type TokenView = Pick<TokenRow, 'id' | 'name' | 'enabled' | 'createdAt' | 'expiresAt' | 'lastUsedAt'>;

/** Internal to this plugin: memory follows the commit. */
export const afterTokensSave = after<undefined>('access/afterTokensSave');

/** In one call: a hash object would cost more than the hashing, at every request. */
const digestOf = (token: string): string => hash('sha256', token);
/** A use is noted, and written, at most once in so many seconds for each token. */
const USED_EVERY_S = 60;

export class Tokens {
  readonly #db: Database;
  readonly #rows: AccessTables['tokens'];
  readonly #clock: Clock;
  /** by digest; a request costs no query */
  #known: ReadonlyMap<string, TokenRow> = new Map();
  /** Unix seconds of the last use, by id; the database has them up to the last `flush` */
  readonly #used = new Map<number, number>();
  #unwritten = new Set<number>();

  constructor({ db, tables: { tokens }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tokens;
    this.#clock = clock;
  }

  async load(): Promise<void> {
    const rows = (await this.#rows.findAll({ raw: true, order: ['id'] })) as unknown as TokenRow[];
    // Changed at once: a request that comes meanwhile must not find its token gone.
    this.#known = new Map(rows.map((row) => [row.digest, row]));
  }

  list(): TokenView[] {
    return [...this.#known.values()].map((row) => this.#view(row));
  }

  /** The token that was presented, where it is enabled and not expired; it counts as used. Looking up a digest tells an attacker nothing about the token. */
  use(token: string): Pick<TokenRow, 'id' | 'name'> | undefined {
    const row = this.#known.get(digestOf(token));
    const now = this.#clock.now();
    if (!row?.enabled || (row.expiresAt !== 0 && row.expiresAt <= now)) return undefined;
    const second = Math.floor(now / 1000);
    if (second >= (this.#used.get(row.id) ?? row.lastUsedAt) + USED_EVERY_S) {
      this.#used.set(row.id, second);
      this.#unwritten.add(row.id);
    }
    return row;
  }

  /** Writes down which tokens were used since the last call. */
  async flush(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const used = [...this.#unwritten].map((id) => [id, this.#used.get(id)]);
    this.#unwritten = new Set();
    await this.#db.write((tx) =>
      tx.run(
        `UPDATE api_tokens SET last_used_at = (SELECT j.at FROM ${tx.sql.rows({ id: 'integer', at: 'integer' })} AS j WHERE j.id = api_tokens.id)
         WHERE id IN (SELECT j.id FROM ${tx.sql.rows({ id: 'integer', at: 'integer' })} AS j)`,
        { rows: JSON.stringify(used) },
      ),
    );
  }

  /** The only time the token itself is seen. */
  async create(name: string, expiresAt: number, who: Principal): Promise<TokenView & { token: string }> {
    if (expiresAt !== 0 && expiresAt <= this.#clock.now())
      throw errors.TOKEN_EXPIRED(undefined, { path: 'expiresAt' });
    // Two names that look alike would hide a token among those that the admin knows.
    refuseHidden('name', name, 'name');
    const token = randomBytes(36).toString('base64url');
    try {
      await this.#save(async (tx) => {
        const row = await this.#rows.create(
          {
            name,
            digest: digestOf(token),
            enabled: true,
            createdAt: Math.floor(this.#clock.now() / 1000),
            expiresAt,
            lastUsedAt: 0,
          },
          { transaction: tx.t },
        );
        const after = { id: Number(row.get('id')), name, enabled: true, expiresAt };
        await this.#tell(tx, [{ kind: 'added', before: undefined, after }], who);
      });
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.TOKEN_NAME_TAKEN(`another API token is called "${name}"`, { path: 'name' });
      throw error;
    }
    const row = this.#known.get(digestOf(token));
    if (!row) throw new Error('the new token is not in the database');
    return { ...this.#view(row), token };
  }

  async setEnabled(id: number, enabled: boolean, who: Principal): Promise<void> {
    await this.#save(async (tx) => {
      const before = this.#facts(id);
      const [changed] = await this.#rows.update({ enabled }, { where: { id }, transaction: tx.t });
      if (changed === 0) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
      await this.#tell(tx, [{ kind: 'updated', before, after: { ...before, enabled } }], who);
    });
  }

  async delete(id: number, who: Principal): Promise<void> {
    await this.#save(async (tx) => {
      const before = this.#facts(id);
      const deleted = await this.#rows.destroy({ where: { id }, transaction: tx.t });
      if (deleted === 0) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
      await this.#tell(tx, [{ kind: 'deleted', before, after: undefined }], who);
    });
  }

  /** Disables every API token within a write of the caller's; answers how many were enabled. */
  async disableAll(tx: Tx, who: Principal): Promise<number> {
    const [disabled] = await this.#rows.update(
      { enabled: false },
      { where: { enabled: true }, transaction: tx.t },
    );
    const changes = this.list()
      .filter(({ enabled }) => enabled)
      .map(({ id }): TokenChange => {
        const before = this.#facts(id);
        return { kind: 'updated', before, after: { ...before, enabled: false } };
      });
    if (changes.length > 0) await this.#tell(tx, changes, who);
    tx.after(afterTokensSave, undefined);
    return disabled;
  }

  /** As memory has it, which follows each commit. */
  #facts(id: number): TokenFacts {
    const found = [...this.#known.values()].find((row) => row.id === id);
    if (!found) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
    return { id, name: found.name, enabled: Boolean(found.enabled), expiresAt: found.expiresAt };
  }

  #tell(tx: Tx, changes: readonly TokenChange[], who: Principal): Promise<void> {
    return tx.during(duringTokenSave, { changes, who });
  }

  #view({ id, name, enabled, createdAt, expiresAt, lastUsedAt }: TokenRow): TokenView {
    return {
      id,
      name,
      enabled: Boolean(enabled),
      createdAt,
      expiresAt,
      lastUsedAt: this.#used.get(id) ?? lastUsedAt,
    };
  }

  #save<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#db.write((tx) => {
      tx.after(afterTokensSave, undefined);
      return work(tx);
    });
  }
}
