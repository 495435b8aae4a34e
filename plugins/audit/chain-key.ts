// The key of the chain, and where the chain begins.
import { randomBytes } from 'node:crypto';
import type { Database, Log, Tx } from '../../kernel/index.js';
import type { SecretsApi } from '../secrets/contract.js';
import { type Beginning, type Link, macOf } from './chain.js';
import { errors } from './errors.js';
import { sealedKey } from './tables.js';

const ROW = 1;
/** Before the key, in the sealed text: this key has signed where its chain begins. A key of an earlier release has not. */
const SIGNS = '2:';
interface Row {
  readonly macKey: string;
  readonly removedId: number;
  readonly removedHash: string;
  readonly removedMac: string;
  readonly lostId: number;
}
interface Opened {
  readonly key: Buffer;
  readonly signs: boolean;
}
const SELECT = `SELECT mac_key AS "macKey", removed_id AS "removedId", removed_hash AS "removedHash", removed_mac AS "removedMac",
  lost_id AS "lostId" FROM audit_chain WHERE id = 1`;

const beginningOf = (row: Row | undefined): Beginning => ({
  removed: { id: Number(row?.removedId ?? 0), hash: row?.removedHash ?? '' },
  lostId: Number(row?.lostId ?? 0),
});

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
    const [last] = await tx.query<{ entry: number; hash: string }>(
      'SELECT entry, hash FROM audit_changes ORDER BY id DESC LIMIT 1',
    );
    const [row] = await tx.query<Row>(SELECT);
    const removed = last ? { id: Number(last.entry), hash: last.hash } : beginningOf(row).removed;
    await tx.run('DELETE FROM audit_chain WHERE id = 1');
    return this.#make(tx, { removed, lostId: removed.id });
  }

  async #make(tx: Tx, beginning: Beginning): Promise<Buffer> {
    const key = randomBytes(32);
    const { removed, lostId } = beginning;
    await tx.run(
      `INSERT INTO audit_chain (id, mac_key, removed_id, removed_hash, removed_mac, lost_id)
       VALUES (1, :sealed, :id, :hash, :mac, :lostId)`,
      { sealed: this.#sealed(key), ...removed, mac: macOf(key, beginning), lostId },
    );
    return key;
  }

  #sealed(key: Buffer): string {
    return this.#secrets.seal(sealedKey, ROW, `${SIGNS}${key.toString('base64')}`);
  }

  /** Returns the key, and makes it when this panel has none. */
  async within(tx: Tx): Promise<Buffer> {
    if (this.#key) return this.#key;
    const [row] = await tx.query<Row>(SELECT);
    if (row) {
      const { key, signs } = this.#open(row);
      if (!signs) {
        const mac = macOf(key, beginningOf(row));
        const sealed = this.#sealed(key);
        await tx.run('UPDATE audit_chain SET mac_key = :sealed, removed_mac = :mac WHERE id = 1', {
          sealed,
          mac,
        });
      }
      return key;
    }
    const [entry] = await tx.query('SELECT id FROM audit_changes LIMIT 1');
    if (entry) throw new Error('the table audit_chain is blank, and there are entries');
    return this.#make(tx, { removed: { id: 0, hash: '' }, lostId: 0 });
  }

  /** Moves the beginning behind the last entry that is removed for its age. */
  async removedUntil(tx: Tx, removed: Link): Promise<void> {
    const key = await this.within(tx);
    const { lostId } = beginningOf((await tx.query<Row>(SELECT))[0]);
    await tx.run(
      'UPDATE audit_chain SET removed_id = :id, removed_hash = :hash, removed_mac = :mac WHERE id = 1',
      { ...removed, mac: macOf(key, { removed, lostId }) },
    );
  }

  /** The last entry that was removed for its age. */
  async removed(db: Pick<Database, 'query'>): Promise<Link> {
    const [row] = await db.query<Row>(SELECT);
    return beginningOf(row).removed;
  }

  /** The key, the beginning, and whether the beginning is what was written. Rejects with NO_KEY. */
  async read(): Promise<Beginning & { readonly key: Buffer; readonly isSigned: boolean }> {
    const [row] = await this.#db.query<Row>(SELECT);
    if (!row)
      throw errors.NO_KEY(
        'the table audit_chain is blank: nothing can be verified without its key; bring back a backup',
      );
    const { key, signs } = this.#open(row);
    const beginning = beginningOf(row);
    return { ...beginning, key, isSigned: !signs || macOf(key, beginning) === row.removedMac };
  }

  #open({ macKey }: Row): Opened {
    const text = this.#secrets.open(sealedKey, ROW, macKey);
    const signs = text.startsWith(SIGNS);
    return { key: Buffer.from(signs ? text.slice(SIGNS.length) : text, 'base64'), signs };
  }
}
