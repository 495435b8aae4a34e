// The database from the view of one plugin.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { SqlWords } from '../../tables/dialect.js';
import type { Projection, ProjectionSource } from '../../tables/projection.js';
import { token } from '../container/token.js';
import type { Connections } from './connect.js';
import type { Tx } from './tx.js';
import type { Writer } from './writer.js';

/** The projections of all plugins; provided by the kernel. */
export const Projections = token<readonly Projection<object, unknown>[]>('kernel', 'Projections');

/** The database from the view of one plugin. */
export class Database {
  readonly #sequelize: Sequelize;
  readonly #writer: Writer;
  readonly #owner: string;
  /** SQL that differs between databases */
  readonly sql: SqlWords;

  constructor({ sequelize, sql }: Connections, writer: Writer, owner: string) {
    this.#sequelize = sequelize;
    this.sql = sql;
    this.#writer = writer;
    this.#owner = owner;
  }
  /** Runs one transaction: all of `work` or nothing. Inside it, nothing may leave the process (network, core, child processes). */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#writer.write(this.#owner, work);
  }
  /** Creates state in memory that follows the tables of this plugin; call it while the plugin is built. Loaded before `start`, changed with `tx.apply`. */
  projection<S extends object, C>(source: ProjectionSource<S, C>): Projection<S, C> {
    return this.#writer.projection(this.#owner, source);
  }
  /** For the kernel. */
  async loadProjections(): Promise<void> {
    for (const projection of this.#writer.projections)
      if (projection.plugin === this.#owner) await projection.load();
  }
  /** Reads committed data; inside a write use `tx.query`. */
  query<R extends object>(sql: string, replacements?: Record<string, unknown>): Promise<R[]> {
    return this.#sequelize.query<R>(sql, { ...(replacements && { replacements }), type: QueryTypes.SELECT });
  }
  /** Whether it fails. Memory has been read again, where needed, when that is over. */
  get isFailing(): boolean {
    return this.#writer.isFailing;
  }
  /** Throws when called inside a write: for functions that leave the process. */
  refuseInsideWrite(what: string): void {
    const owner = this.#writer.inside();
    if (owner !== undefined)
      throw new Error(`${what} inside a write of ${owner}: it would block the database until others answer`);
  }
}
