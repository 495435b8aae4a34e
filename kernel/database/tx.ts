// An open write, as those who take part in it see it.
import type { Transaction } from 'sequelize';
import type { After, During, Event } from '../hooks/kinds.js';
import type { Projection } from '../../tables/projection.js';
import type { SqlWords } from '../../tables/dialect.js';

/** An open write. Every function that takes part in it receives it as a parameter. */
export interface Tx {
  /** for Sequelize: `{ transaction: tx.t }` */
  readonly t: Transaction;
  /** SQL that differs between databases */
  readonly sql: SqlWords;
  /** Runs one statement with `:name` replacements; pass bulk data as one JSON text (`sql.rows`), five times faster than binding each value. */
  run(sql: string, replacements?: Record<string, unknown>): Promise<void>;
  /** Runs an UPDATE or DELETE; resolves with the number of matched rows, changed or not. */
  change(sql: string, replacements?: Record<string, unknown>): Promise<number>;
  query<R extends object>(sql: string, replacements?: Record<string, unknown>): Promise<R[]>;
  /** Runs the taps that take part in this write, after its statements; rejects when one fails or refuses, and then the write must fail. A tap's `tx` reads everything and writes only tables of its own plugin. */
  during<P>(hook: During<P>, payload: P): Promise<void>;
  /** Applies a change to a projection after the commit, before the `after` hooks and before the write resolves; a rollback drops it. */
  apply<S extends object, C>(projection: Projection<S, C>, change: C): void;
  /** Delivered after the commit and before the write resolves; a rollback drops it. */
  after<P>(hook: After<P>, payload: P): void;
  /** Queued after the commit; a rollback drops it. */
  emit<P>(hook: Event<P>, payload: P): void;
}
