// The key of the chain, and where the chain begins.
import { randomBytes } from 'node:crypto';
import type { Database, Log, Tx } from '../../kernel/index.js';
import type { SecretsApi } from '../secrets/contract.js';
import type { Link } from './chain.js';
import { errors } from './errors.js';
import { sealedKey } from './tables.js';

const ROW = 1;
interface Row {
  readonly macKey: string;
  readonly removedId: number;
  readonly removedHash: string;
}
const SELECT =
  'SELECT mac_key AS macKey, removed_id AS removedId, removed_hash AS removedHash FROM audit_chain WHERE id = 1';

export class ChainKey {
  readonly #db: Database;
  readonly #secrets: SecretsApi;
  readonly #log: Log;
  /** set by `start`; before it, the key may stand in a write that is rolled back */
  #key: Buffer | undefined;

  constructor({ db, secrets, log }: { db: Database; secrets: SecretsApi; log: Log }) {
    this.#db = db;
    this.#secrets = secrets;
    this.#log = log;
  }

  async start(): Promise<void> {
    this.#key = await this.#db.write(async (tx) => {
      try {
        return await this.within(tx);
      } catch (error) {
        this.#log.error(
          'the key of the record of changes is lost; a new chain begins behind the last entry',
          {
            error,
          },
        );
        return this.#beginAgain(tx);
      }
    });
  }

  /** What was written with the lost key stays, and cannot be verified any more. */
  async #beginAgain(tx: Tx): Promise<Buffer> {
    await tx.run(
      `UPDATE audit_chain SET
       removed_id = COALESCE((SELECT MAX(entry) FROM audit_changes), removed_id),
       removed_hash = COALESCE((SELECT hash FROM audit_changes ORDER BY id DESC LIMIT 1), removed_hash)
       WHERE id = 1`,
    );
    const key = randomBytes(32);
    await tx.run('UPDATE audit_chain SET mac_key = :sealed WHERE id = 1', { sealed: this.#sealed(key) });
    return key;
  }

  #sealed(key: Buffer): string {
    return this.#secrets.seal(sealedKey, ROW, key.toString('base64'));
  }

  /** Returns the key, and makes it when this panel has none. */
  async within(tx: Tx): Promise<Buffer> {
    if (this.#key) return this.#key;
    const [row] = await tx.query<Row>(SELECT);
    if (row) return this.#open(row);
    const key = randomBytes(32);
    await tx.run(
      "INSERT INTO audit_chain (id, mac_key, removed_id, removed_hash) VALUES (1, :sealed, 0, '')",
      { sealed: this.#sealed(key) },
    );
    return key;
  }

  /** The last entry that was removed for its age. */
  async removed(db: Pick<Database, 'query'>): Promise<Link> {
    const [row] = await db.query<Row>(SELECT);
    return { id: Number(row?.removedId ?? 0), hash: row?.removedHash ?? '' };
  }

  /** Rejects with NO_KEY. */
  async read(): Promise<Buffer> {
    const [row] = await this.#db.query<Row>(SELECT);
    if (!row)
      throw errors.NO_KEY(
        'the table audit_chain is blank: nothing can be verified without its key; bring back a backup',
      );
    return this.#open(row);
  }

  #open({ macKey }: Row): Buffer {
    return Buffer.from(this.#secrets.open(sealedKey, ROW, macKey), 'base64');
  }
}
