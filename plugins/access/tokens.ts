// API tokens: full-admin credentials for programs, known only by their digest.
import { hash, randomBytes } from 'node:crypto';
import { UniqueConstraintError } from 'sequelize';
import { after, type Clock, type Database, kernelErrors, type Row, type Tx } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { AccessTables, tables } from './tables.js';

type TokenRow = Row<typeof tables.tokens>;
/** What the API shows of a token. */
export type TokenView = Pick<TokenRow, 'id' | 'name' | 'enabled' | 'createdAt' | 'expiresAt'>;

/** Internal to this plugin: memory follows the commit. */
export const afterTokensSave = after<undefined>('access/afterTokensSave');

/** In one call: a hash object would cost more than the hashing, at every request. */
const digestOf = (token: string): string => hash('sha256', token);
const view = ({ id, name, enabled, createdAt, expiresAt }: TokenRow): TokenView => ({
  id,
  name,
  enabled: Boolean(enabled),
  createdAt,
  expiresAt,
});

export class Tokens {
  readonly #db: Database;
  readonly #rows: AccessTables['tokens'];
  readonly #clock: Clock;
  /** by digest; a request costs no query */
  #known: ReadonlyMap<string, TokenRow> = new Map();

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
    return [...this.#known.values()].map(view);
  }

  /** The token that was presented, where it is enabled and not expired. Looking up a digest tells an attacker nothing about the token. */
  find(token: string): TokenView | undefined {
    const row = this.#known.get(digestOf(token));
    return row?.enabled && (row.expiresAt === 0 || row.expiresAt > this.#clock.now()) ? view(row) : undefined;
  }

  /** The only time the token itself is seen. */
  async create(name: string, expiresAt = 0): Promise<TokenView & { token: string }> {
    if (expiresAt !== 0 && expiresAt <= this.#clock.now())
      throw kernelErrors.INVALID('expiresAt must lie ahead (Unix ms), or be 0 for never', {
        path: 'expiresAt',
      });
    const token = randomBytes(36).toString('base64url');
    try {
      await this.#save((tx) =>
        this.#rows.create(
          {
            name,
            digest: digestOf(token),
            enabled: true,
            createdAt: Math.floor(this.#clock.now() / 1000),
            expiresAt,
          },
          { transaction: tx.t },
        ),
      );
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.TOKEN_NAME_TAKEN(`another API token is called "${name}"`, { path: 'name' });
      throw error;
    }
    const row = this.#known.get(digestOf(token));
    if (!row) throw new Error('the new token is not in the database');
    return { ...view(row), token };
  }

  async setEnabled(id: number, enabled: boolean): Promise<void> {
    const [changed] = await this.#save((tx) =>
      this.#rows.update({ enabled }, { where: { id }, transaction: tx.t }),
    );
    if (changed === 0) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
  }

  async delete(id: number): Promise<void> {
    const deleted = await this.#save((tx) => this.#rows.destroy({ where: { id }, transaction: tx.t }));
    if (deleted === 0) throw errors.TOKEN_NOT_FOUND(undefined, { path: 'id' });
  }

  #save<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#db.write((tx) => {
      tx.after(afterTokensSave, undefined);
      return work(tx);
    });
  }
}
