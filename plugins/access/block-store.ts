// Stores blocks across restarts. The database follows the memory here: blocks are written together every five seconds, so a
// flood costs one small write.
import type { Database, Projection } from '../../kernel/index.js';
import type { AccessTables } from './tables.js';

export interface StoredBlock {
  /** SHA-256, in hex, of the blocked source */
  readonly source: string;
  /** Unix ms */
  readonly blockedUntil: number;
}

export class BlockStore {
  readonly #db: Database;
  readonly #rows: AccessTables['blocks'];
  #unwritten = new Map<string, number>();
  /** Follows what other panels of the database block; each panel knows its own blocks before they are written. */
  readonly #written: Projection<object, readonly (readonly [string, number])[] | 'cleared'>;
  /** Called with blocks that were written, by whichever panel. */
  onWritten: (blocks: readonly (readonly [source: string, blockedUntil: number])[]) => void = () => undefined;
  /** Called when all blocks were deleted. */
  onCleared: () => void = () => undefined;

  constructor({ db, tables: { blocks } }: { db: Database; tables: AccessTables }) {
    this.#db = db;
    this.#rows = blocks;
    this.#written = db.projection({
      load: async () => ({}),
      apply: (_, change) => (change === 'cleared' ? this.onCleared() : this.onWritten(change)),
    });
  }

  /** Returns the blocks in the order in which they end. */
  async load(): Promise<readonly StoredBlock[]> {
    return (await this.#rows.findAll({
      raw: true,
      order: ['blockedUntil'],
    })) as unknown as readonly StoredBlock[];
  }

  /** Queues a block for the next `flush`. */
  add(source: string, blockedUntil: number): void {
    this.#unwritten.set(source, blockedUntil);
  }

  /** Writes new blocks and deletes those that ended before `oldest` (Unix ms). Writes nothing when there is no new block. */
  async flush(oldest: number): Promise<void> {
    const fresh = [...this.#unwritten].filter(([, blockedUntil]) => blockedUntil >= oldest);
    if (this.#unwritten.size === 0) return;
    this.#unwritten = new Map();
    await this.#db.write(async (tx) => {
      const { rows, onConflict, incoming } = tx.sql;
      // Our own statement: a flood brings up to 10,000 blocks in five seconds.
      if (fresh.length > 0)
        await tx.run(
          `INSERT INTO login_blocks (source, blocked_until)
           SELECT j.source, j.blocked_until FROM ${rows({ source: 'text', blocked_until: 'integer' })} AS j WHERE true
           ${onConflict('source', `blocked_until = ${incoming('blocked_until')}`)}`,
          { rows: JSON.stringify(fresh) },
        );
      await tx.run('DELETE FROM login_blocks WHERE blocked_until < :oldest', { oldest });
      if (fresh.length > 0) tx.apply(this.#written, fresh);
    });
  }

  async clear(): Promise<void> {
    this.#unwritten.clear();
    await this.#db.write(async (tx) => {
      await tx.run('DELETE FROM login_blocks');
      tx.apply(this.#written, 'cleared');
    });
  }
}
