// API tokens: full-admin credentials for programs, known only by their digest.
import { createHash, randomBytes } from 'node:crypto';
import { UniqueConstraintError } from 'sequelize';
import type { Clock, Database, Row } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { AccessTables, tables } from './tables.js';

type TokenRow = Row<typeof tables.tokens>;
/** What the API shows of a token. */
export type TokenView = Pick<TokenRow, 'id' | 'name' | 'enabled' | 'createdAt'>;

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const view = ({ id, name, enabled, createdAt }: TokenRow): TokenView => ({ id, name, enabled: Boolean(enabled), createdAt });

export class Tokens {
  readonly #db: Database;
  readonly #rows: AccessTables['tokens'];
  readonly #clock: Clock;
  /** by digest; a request costs no query */
  readonly #known = new Map<string, TokenRow>();

  constructor({ db, tables: { tokens }, clock }: { db: Database; tables: AccessTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tokens;
    this.#clock = clock;
  }

  async load(): Promise<void> {
    this.#known.clear();
    for (const row of (await this.#rows.findAll({ raw: true, order: ['id'] })) as unknown as TokenRow[]) this.#known.set(row.digest, row);
  }

  list(): TokenView[] {
    return [...this.#known.values()].map(view);
  }

  /** The enabled token that was presented. Looking up a digest tells an attacker nothing about the token. */
  find(token: string): TokenView | undefined {
    const row = this.#known.get(digestOf(token));
    return row?.enabled ? view(row) : undefined;
  }

  /** The only time the token itself is seen. */
  async create(name: string): Promise<TokenView & { token: string }> {
    const token = randomBytes(36).toString('base64url');
    try {
      await this.#db.write((tx) => this.#rows.create({ name, digest: digestOf(token), enabled: true, createdAt: Math.floor(this.#clock.now() / 1000) }, { transaction: tx.t }));
    } catch (error) {
      if (error instanceof UniqueConstraintError) throw errors.TOKEN_NAME_TAKEN(`another API token is called "${name}"`, { path: 'name' });
      throw error;
    }
    await this.load();
    const row = this.#known.get(digestOf(token));
    if (!row) throw new Error('the new token is not in the database');
    return { ...view(row), token };
  }

  async setEnabled(id: number, enabled: boolean): Promise<void> {
    const [changed] = await this.#db.write((tx) => this.#rows.update({ enabled }, { where: { id }, transaction: tx.t }));
    if (changed === 0) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
    await this.load();
  }

  async delete(id: number): Promise<void> {
    const deleted = await this.#db.write((tx) => this.#rows.destroy({ where: { id }, transaction: tx.t }));
    if (deleted === 0) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
    await this.load();
  }
}
