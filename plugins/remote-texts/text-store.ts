// The texts that were fetched, by setting; in memory, because fetches of client programs read them.
import type { Database, Projection, TableModels, Tx } from '../../kernel/index.js';
import { isRemote, type RemoteTextsApi } from './contract.js';
import type { tables } from './tables.js';

type Tables = TableModels<typeof tables>;

export interface FetchedText {
  readonly setting: string;
  readonly url: string;
  /** kept while the source is down */
  readonly body: string;
  readonly etag: string;
  /** Unix ms of the last good fetch; 0: none yet */
  readonly fetchedAt: number;
  /** Unix ms */
  readonly triedAt: number;
  /** tries that failed since the last good one */
  readonly failures: number;
  /** why the last try failed; '' when it did not */
  readonly error: string;
}
type Change = { readonly saved: FetchedText } | { readonly dropped: readonly string[] };

export class TextStore implements RemoteTextsApi {
  readonly #db: Database;
  readonly #rows: Tables['texts'];
  readonly projection: Projection<Map<string, FetchedText>, Change>;

  constructor({ db, tables: { texts } }: { db: Database; tables: Tables }) {
    this.#db = db;
    this.#rows = texts;
    this.projection = db.projection<Map<string, FetchedText>, Change>({
      load: async () => {
        const rows = await this.#rows.findAll();
        return new Map(rows.map((row) => [row.get().setting, row.get()]));
      },
      apply: (state, change) => {
        if ('saved' in change) state.set(change.saved.setting, change.saved);
        else for (const setting of change.dropped) state.delete(setting);
      },
    });
  }

  textOf(setting: string, value: string): string {
    return isRemote(value) ? (this.of(setting, value)?.body ?? '') : value;
  }
  /** Of another URL than this one, nothing is known. */
  of(setting: string, value: string): FetchedText | undefined {
    const found = this.projection.state.get(setting);
    return found?.url === value.trim() ? found : undefined;
  }

  async save(text: FetchedText): Promise<void> {
    await this.#db.write(async (tx: Tx) => {
      await this.#rows.upsert({ ...text }, { transaction: tx.t });
      tx.apply(this.projection, { saved: text });
    });
  }

  /** Forgets all but these settings: a URL that is taken out comes back without its old text. */
  async keep(settings: ReadonlySet<string>): Promise<void> {
    const dropped = [...this.projection.state.keys()].filter((setting) => !settings.has(setting));
    if (dropped.length === 0) return;
    await this.#db.write(async (tx: Tx) => {
      await this.#rows.destroy({ where: { setting: dropped }, transaction: tx.t });
      tx.apply(this.projection, { dropped });
    });
  }
}
