// The subscriptions elsewhere, by URL: the links that the last good fetch brought, and how the last fetch went.
import { createHash } from 'node:crypto';
import type { Database, Projection, TableModels, Tx } from '../../kernel/index.js';
import type { tables } from './tables.js';

type Tables = TableModels<typeof tables>;

/** One object until the next fetch. */
export interface Source {
  readonly url: string;
  /** kept while the source is down */
  readonly links: readonly string[];
  /** Unix ms of the last try */
  readonly triedAt: number;
  /** tries that failed since the last good one */
  readonly failures: number;
  /** why the last try failed; '' when it did not */
  readonly error: string;
}
type Change = { readonly saved: Source } | { readonly dropped: readonly string[] };

const keyOf = (url: string): string => createHash('sha256').update(url).digest('hex');
const LINE = '\n';

export class SourceStore {
  readonly #db: Database;
  readonly #rows: Tables['sources'];
  readonly projection: Projection<Map<string, Source>, Change>;

  constructor({ db, tables: { sources } }: { db: Database; tables: Tables }) {
    this.#db = db;
    this.#rows = sources;
    this.projection = db.projection<Map<string, Source>, Change>({
      load: async () => {
        const rows = await this.#rows.findAll();
        return new Map(
          rows.map((row) => {
            const { urlHash: _key, links, ...rest } = row.get();
            return [rest.url, { ...rest, links: links.split(LINE).filter(Boolean) }];
          }),
        );
      },
      apply: (state, change) => {
        if ('saved' in change) state.set(change.saved.url, change.saved);
        else for (const url of change.dropped) state.delete(url);
      },
    });
  }

  of(url: string): Source | undefined {
    return this.projection.state.get(url);
  }
  all(): Iterable<Source> {
    return this.projection.state.values();
  }

  async save(tx: Tx, source: Source): Promise<void> {
    const { url, links, triedAt, failures, error } = source;
    await this.#rows.upsert(
      { urlHash: keyOf(url), url, links: links.join(LINE), triedAt, failures, error },
      { transaction: tx.t },
    );
    tx.apply(this.projection, { saved: source });
  }

  /** Of URLs that no client has any more. */
  async drop(urls: readonly string[]): Promise<void> {
    if (urls.length === 0) return;
    await this.#db.write(async (tx) => {
      await this.#rows.destroy({ where: { urlHash: urls.map(keyOf) }, transaction: tx.t });
      tx.apply(this.projection, { dropped: urls });
    });
  }
}
