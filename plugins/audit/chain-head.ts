// The newest entry. It is kept in memory, so that an edit does not have to look for it.
import type { Database, Projection, Tx } from '../../kernel/index.js';
import { BEGINNING, type Link } from './chain.js';
import type { ChainKey } from './chain-key.js';

interface Memory {
  link: Link;
}
interface Written {
  readonly link: Link;
  /** the transaction that wrote it */
  readonly by: string;
}

const idOf = ({ t }: Tx): string => (t as unknown as { readonly id: string }).id;

export class ChainHead {
  readonly #chainKey: ChainKey;
  readonly #memory: Projection<Memory, Written>;
  /** the transaction that wrote last; it may be open, or rolled back */
  #lastBy = '';
  /** the transaction that memory follows */
  #followed = '';
  /** false until memory is loaded: plugins that start earlier write too */
  isReady = false;

  constructor({ db, chainKey }: { db: Database; chainKey: ChainKey }) {
    this.#chainKey = chainKey;
    this.#memory = db.projection<Memory, Written>({
      load: async () => ({ link: await this.#read(db) }),
      apply: (memory, { link, by }) => {
        memory.link = link;
        this.#followed = by;
      },
    });
  }

  /** The newest entry that was committed; undefined before memory is loaded. */
  get written(): Link | undefined {
    return this.isReady ? this.#memory.state.link : undefined;
  }

  /** The newest entry, from the view of this write. */
  async of(tx: Tx): Promise<Link> {
    // Memory follows a moment after the commit, and never after a rollback.
    const isCurrent = this.#lastBy === '' || this.#lastBy === this.#followed;
    if (this.isReady && isCurrent) return this.#memory.state.link;
    return this.#read(tx);
  }

  moved(tx: Tx, link: Link): void {
    this.#lastBy = idOf(tx);
    tx.apply(this.#memory, { link, by: this.#lastBy });
  }

  async #read(db: Pick<Database, 'query'>): Promise<Link> {
    const [row] = await db.query<{ readonly entry: number; readonly hash: string }>(
      'SELECT entry, hash FROM audit_changes ORDER BY id DESC LIMIT 1',
    );
    if (row) return { id: Number(row.entry), hash: row.hash };
    const removed = await this.#chainKey.removed(db);
    return removed.id > 0 ? removed : BEGINNING;
  }
}
