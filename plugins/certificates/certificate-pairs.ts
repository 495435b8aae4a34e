// Key and chain of orders in the database, beside those on the disk: each panel on this database writes the files of a
// certificate that another one ordered, goes on with its order, and proves names for it. A backup holds them as well.
import {
  type Clock,
  type Database,
  type Log,
  messageOf,
  type Projection,
  type Row,
  type Tx,
} from '../../kernel/index.js';
import { type PanelsApi, repeatedWrite } from '../cluster/contract.js';
import type { SealedColumn, SecretsApi } from '../secrets/contract.js';
import { orderedBy } from './errors.js';
import type { Challenge } from './fields.js';
import type { Pem } from './pair-files.js';
import type { CertificateTables, tables } from './tables.js';

type StoredPair = Row<(typeof tables)['pairs']>;
/** An order, or the certificate that it gave. Key and chain are only in the database: memory is told to other panels as it is. */
export type Pair = Pick<StoredPair, 'id' | 'certificateId' | 'panel' | 'since' | 'answers' | 'isIssued'>;
/** What proves a name to the authority. */
export interface NameProof {
  readonly challenge: Challenge;
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
}

interface Memory {
  pairs: readonly Pair[];
}
interface Change {
  readonly set?: Pair;
  /** ids */
  readonly deleted?: readonly string[];
}

/** Panels learn of each other within seconds. */
const KNOWN_AFTER_MS = 30_000;

export const pairKeys: SealedColumn = { table: 'certificate_pairs', key: 'id', column: 'private_key' };

export class CertificatePairs {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #rows: CertificateTables['pairs'];
  readonly #secrets: SecretsApi;
  readonly #panels: PanelsApi | undefined;
  readonly #log: Log;
  readonly #memory: Projection<Memory, Change>;

  constructor(needs: {
    db: Database;
    clock: Clock;
    tables: CertificateTables;
    secrets: SecretsApi;
    panels: PanelsApi | undefined;
    log: Log;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#rows = needs.tables.pairs;
    this.#secrets = needs.secrets;
    this.#panels = needs.panels;
    this.#log = needs.log;
    this.#memory = needs.db.projection<Memory, Change>({
      load: async () => {
        const rows = await this.#rows.findAll({
          attributes: ['id', 'certificateId', 'panel', 'since', 'answers', 'isIssued'],
          order: [['id', 'ASC']],
        });
        return { pairs: rows.map((row) => row.get()) };
      },
      apply: (memory, { set, deleted = [] }) => {
        const rest = memory.pairs.filter(({ id }) => id !== set?.id && !deleted.includes(id));
        memory.pairs = set ? [...rest, set] : rest;
      },
    });
  }

  /** Another list after each change. */
  get all(): readonly Pair[] {
    return this.#memory.state.pairs;
  }
  /** The certificate that is in use, whichever panel ordered it. */
  issued(certificateId: number): Pair | undefined {
    return this.all.find((pair) => pair.isIssued && pair.certificateId === certificateId);
  }
  /** The panel that works on this order now; undefined when none does, or this one. */
  otherAt(order: string): string | undefined {
    const { panel = '', since = 0 } = this.all.find(({ id }) => id === order) ?? {};
    if (panel === '' || panel === this.#name) return undefined;
    // One that has just started may not be known yet.
    const isNew = Math.abs(this.#clock.now() - since) < KNOWN_AFTER_MS;
    return isNew || this.#panels?.others.includes(panel) ? panel : undefined;
  }
  /** Orders that this panel began or took. */
  ofThis(): readonly Pair[] {
    return this.all.filter(({ panel, isIssued }) => !isIssued && panel === this.#name);
  }
  /** Orders that other panels work on. */
  ofOthers(): readonly Pair[] {
    return this.all.filter(({ id, isIssued }) => !isIssued && this.otherAt(id) !== undefined);
  }

  /** Key and chain; the chain is blank until there is one. Undefined when the row has gone, or its key cannot be opened. */
  async read(id: string): Promise<Pem | undefined> {
    const found = (await this.#rows.findByPk(id))?.get();
    if (!found) return undefined;
    try {
      return { cert: found.chain, key: this.#secrets.open(pairKeys, id, found.privateKey) };
    } catch (error) {
      this.#log.error('the key of a certificate in the database is unusable', { problem: messageOf(error) });
      return undefined;
    }
  }

  /** Notes the key of an order that begins. */
  async begin(tx: Tx, certificateId: number, id: string, key: string): Promise<void> {
    await this.#create(tx, { certificateId, id, isIssued: false }, { cert: '', key });
  }

  /** Notes the certificate that is in use from now on. */
  async issue(tx: Tx, certificateId: number, id: string, pem: Pem): Promise<void> {
    await this.#delete(
      tx,
      ({ id: other, ...pair }) => pair.certificateId === certificateId && (pair.isIssued || other === id),
    );
    await this.#create(tx, { certificateId, id, isIssued: true }, pem);
  }

  /** An order has ended without a certificate. */
  async drop(tx: Tx, id: string): Promise<void> {
    await this.#delete(tx, (pair) => pair.id === id && !pair.isIssued);
  }
  async removeAll(tx: Tx, certificateId: number): Promise<void> {
    await this.#delete(tx, (pair) => pair.certificateId === certificateId);
  }

  /** This panel works on the order from now on. Rejects with TOO_SOON while another one does. */
  async take(id: string): Promise<void> {
    if (this.all.some((pair) => pair.id === id && pair.panel !== this.#name))
      await this.#change(id, () => {
        const other = this.otherAt(id);
        if (other !== undefined) throw orderedBy(other);
        return { panel: this.#name, since: this.#clock.now() };
      });
  }
  /** No panel works on the order any more. */
  leave(id: string): Promise<void> {
    return this.#change(id, () => ({ panel: '' }));
  }
  /** What other panels answer to the authority while the order is open. */
  prove(id: string, answers: readonly NameProof[]): Promise<void> {
    return this.#change(id, () => ({ answers }));
  }

  get #name(): string {
    return this.#panels?.name ?? '';
  }

  #change(id: string, fieldsNow: () => Partial<Pair>): Promise<void> {
    return repeatedWrite(this.#db, async (tx) => {
      const before = this.all.find((pair) => pair.id === id);
      if (!before) return;
      const fields = fieldsNow();
      await this.#rows.update(fields, { where: { id }, transaction: tx.t });
      tx.apply(this.#memory, { set: { ...before, ...fields } });
    });
  }

  async #create(
    tx: Tx,
    ids: Pick<Pair, 'certificateId' | 'id' | 'isIssued'>,
    { cert, key }: Pem,
  ): Promise<void> {
    const pair: Pair = { ...ids, panel: this.#name, since: this.#clock.now(), answers: [] };
    const row = { ...pair, chain: cert, privateKey: this.#secrets.seal(pairKeys, pair.id, key) };
    await this.#rows.create(row, { transaction: tx.t });
    tx.apply(this.#memory, { set: pair });
  }

  async #delete(tx: Tx, which: (pair: Pair) => boolean): Promise<void> {
    const deleted = this.all.filter(which).map(({ id }) => id);
    if (deleted.length === 0) return;
    await this.#rows.destroy({ where: { id: deleted }, transaction: tx.t });
    tx.apply(this.#memory, { deleted });
  }
}
