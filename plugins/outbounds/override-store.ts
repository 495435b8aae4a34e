// Overrides of balancers: in the database, and in memory.
import { createHash } from 'node:crypto';
import type { Database, Projection, Tx } from '../../kernel/index.js';
import type { OverrideTables } from './tables.js';

const hashOf = (tag: string): string => createHash('sha256').update(tag).digest('hex');

export class OverrideStore {
  /** how often memory has changed, by this panel and by others of the same database */
  changes = 0;
  readonly #memory: Projection<Map<string, string>, { readonly tag: string; readonly target: string }>;

  constructor({ db, tables }: { readonly db: Database; readonly tables: OverrideTables }) {
    this.#memory = db.projection({
      load: async () => {
        this.changes += 1;
        return new Map((await tables.overrides.findAll()).map((row) => [row.get().tag, row.get().target]));
      },
      apply: (state, { tag, target }) => {
        this.changes += 1;
        if (target === '') state.delete(tag);
        else state.set(tag, target);
      },
    });
  }

  /** Targets by tag of the balancer. */
  get all(): ReadonlyMap<string, string> {
    return this.#memory.state;
  }

  /** @param target '' removes the override */
  async set(tx: Tx, tag: string, target: string): Promise<void> {
    const values = { hash: hashOf(tag), tag, target };
    if (target === '') await tx.run('DELETE FROM outbound_overrides WHERE hash = :hash', values);
    else
      await tx.run(
        `INSERT INTO outbound_overrides (hash, tag, target) VALUES (:hash, :tag, :target)
         ${tx.sql.onConflict('hash', `target = ${tx.sql.incoming('target')}`)}`,
        values,
      );
    tx.apply(this.#memory, { tag, target });
  }
}
