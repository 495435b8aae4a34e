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
  /** written last, perhaps in a transaction that is still open, or was rolled back */
  #last: Written | undefined;
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

  /** The newest entry, from the view of this write. */
  async of(tx: Tx): Promise<Link> {
    const last = this.#last;
    if (last && last.by === idOf(tx)) return last.link;
    // Memory follows a moment after the commit, and never after a rollback.
    if (this.isReady && (last === undefined || last.by === this.#followed)) return this.#memory.state.link;
    return this.#read(tx);
  }

  moved(tx: Tx, link: Link): void {
    const head = { link, by: idOf(tx) };
    this.#last = head;
    tx.apply(this.#memory, head);
  }

  async #read(db: Pick<Database, 'query'>): Promise<Link> {
    const [row] = await db.query<Link>(
      'SELECT entry AS id, hash FROM audit_changes ORDER BY id DESC LIMIT 1',
    );
    if (row) return { id: Number(row.id), hash: row.hash };
    const removed = await this.#chainKey.removed(db);
    return removed.id > 0 ? removed : BEGINNING;
  }
}
