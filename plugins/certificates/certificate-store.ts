// Certificates and their orders: rows, and memory that follows them.
import { createHash } from 'node:crypto';
import { Op } from 'sequelize';
import type { Clock, Database, Principal, Projection, Row, Tx } from '../../kernel/index.js';
import { repeatedWrite } from '../cluster/contract.js';
import { RecordVersions } from '../record-versions/contract.js';
import type { CertificatePairs } from './certificate-pairs.js';
import { type CertificateFacts, duringCertificateSave } from './contract.js';
import { errors } from './errors.js';
import type { OrderState } from './fields.js';
import type { Pem } from './pair-files.js';
import type { CertificateTables, tables } from './tables.js';

export type Certificate = Row<(typeof tables)['certificates']>;
export type Order = Row<(typeof tables)['orders']>;

const MOST_CERTIFICATES = 100;
/** Longer than any limit of an authority reaches back. */
const ORDERS_KEPT_MS = 8 * 86_400_000;
const MOST_ORDERS_SHOWN = 50;

interface Memory {
  certificates: readonly Certificate[];
  /** by id of the certificate */
  readonly open: Map<number, Order>;
}
interface Change {
  readonly set?: Certificate;
  readonly deleted?: number;
  readonly opened?: Order;
  readonly closed?: number;
}

/** What counts together for the limits of an authority. */
export const identityOf = ({ directory, names }: Pick<Certificate, 'directory' | 'names'>): string =>
  createHash('sha256')
    .update(JSON.stringify([directory, [...names].sort()]))
    .digest('hex');

export function factsOf(certificate: Certificate): CertificateFacts {
  const { id, names, challenge, keyType, directory, uses } = certificate;
  return { id, names, challenge, keyType, directory, uses };
}

export const certificateVersion = new RecordVersions<Certificate>((certificate) => factsOf(certificate));

export class CertificateStore {
  readonly #db: Database;
  readonly #rows: CertificateTables['certificates'];
  readonly #orders: CertificateTables['orders'];
  readonly #clock: Clock;
  readonly #pairs: CertificatePairs;
  readonly memory: Projection<Memory, Change>;

  constructor({
    db,
    tables,
    clock,
    pairs,
  }: { db: Database; tables: CertificateTables; clock: Clock; pairs: CertificatePairs }) {
    this.#db = db;
    this.#pairs = pairs;
    this.#rows = tables.certificates;
    this.#orders = tables.orders;
    this.#clock = clock;
    this.memory = db.projection<Memory, Change>({
      load: async () => {
        const open = await this.#orders.findAll({ where: { state: 'open' }, order: [['id', 'ASC']] });
        return {
          certificates: (await this.#rows.findAll({ order: [['id', 'ASC']] })).map((row) => row.get()),
          open: new Map(open.map((row) => [row.get().certificateId, row.get()])),
        };
      },
      apply: (memory, { set, deleted, opened, closed }) => {
        if (set)
          memory.certificates = [...memory.certificates.filter(({ id }) => id !== set.id), set].sort(
            (a, b) => a.id - b.id,
          );
        if (deleted !== undefined)
          memory.certificates = memory.certificates.filter(({ id }) => id !== deleted);
        if (opened) memory.open.set(opened.certificateId, opened);
        if (closed !== undefined) memory.open.delete(closed);
      },
    });
  }

  list(): readonly Certificate[] {
    return this.memory.state.certificates;
  }
  get(id: number): Certificate | undefined {
    return this.list().find((one) => one.id === id);
  }
  /** Throws NOT_FOUND. */
  find(id: number): Certificate {
    const found = this.get(id);
    if (!found) throw errors.NOT_FOUND(`there is no certificate ${id}`, { path: 'id' });
    return found;
  }
  openOrder(id: number): Order | undefined {
    return this.memory.state.open.get(id);
  }

  add(
    values: Omit<Certificate, 'id' | 'createdAt'>,
    who: Principal,
    check: () => void,
    note: ((added: Certificate) => void) | undefined,
  ): Promise<Certificate> {
    return this.#db.write(async (tx) => {
      if (this.list().length >= MOST_CERTIFICATES) throw errors.TOO_MANY();
      check();
      const row = { ...values, createdAt: this.#clock.now() };
      const id = Number((await this.#rows.create(row, { transaction: tx.t })).get('id'));
      const added = { ...row, id };
      tx.apply(this.memory, { set: added });
      note?.(added);
      await tx.during(duringCertificateSave, {
        changes: [{ kind: 'added', before: undefined, after: factsOf(added) }],
        who,
      });
      return added;
    });
  }

  /** What the panel itself notes; what an admin changes has its author in `who`. */
  change(
    id: number,
    change: (before: Certificate) => Partial<Certificate>,
    who?: Principal,
  ): Promise<Certificate> {
    const work = (tx: Tx): Promise<Certificate> => this.#write(tx, id, change, who);
    return who ? this.#db.write(work) : repeatedWrite(this.#db, work);
  }

  async #checkVersion(tx: Tx, id: number): Promise<void> {
    await certificateVersion.check(async () => (await this.#rows.findByPk(id, { transaction: tx.t }))?.get());
  }

  async #write(
    tx: Tx,
    id: number,
    change: (before: Certificate) => Partial<Certificate>,
    who?: Principal,
  ): Promise<Certificate> {
    const before = this.find(id);
    if (who) await this.#checkVersion(tx, id);
    const fields = change(before);
    if (Object.keys(fields).length === 0) return before;
    await this.#rows.update(fields, { where: { id }, transaction: tx.t });
    const after = { ...before, ...fields };
    tx.apply(this.memory, { set: after });
    if (who)
      await tx.during(duringCertificateSave, {
        changes: [{ kind: 'updated', before: factsOf(before), after: factsOf(after) }],
        who,
      });
    return after;
  }

  /** Notes the files that are in use here in the place of those of another order, unless that one was renewed meanwhile. */
  keep(id: number, order: string, pem: Pem, instead: string | undefined): Promise<void> {
    return repeatedWrite(this.#db, async (tx) => {
      if (this.get(id) && this.#pairs.issued(id)?.id === instead) await this.#pairs.issue(tx, id, order, pem);
    });
  }

  remove(id: number, who: Principal): Promise<Certificate> {
    return this.#db.write(async (tx) => {
      const before = this.find(id);
      await this.#checkVersion(tx, id);
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      // In the same write: the database may give the id to another certificate, which must not find this order.
      await this.#orders.update(
        { state: 'failed', problem: 'the certificate was removed', endedAt: this.#clock.now() },
        { where: { certificateId: id, state: 'open' }, transaction: tx.t },
      );
      await this.#pairs.removeAll(tx, id);
      tx.apply(this.memory, { deleted: id, closed: id });
      await tx.during(duringCertificateSave, {
        changes: [{ kind: 'deleted', before: factsOf(before), after: undefined }],
        who,
      });
      return before;
    });
  }

  /** Orders of the last days, the newest first; also those of removed certificates with the same names. */
  async orders(identity: string): Promise<readonly Order[]> {
    const since = this.#clock.now() - ORDERS_KEPT_MS;
    const rows = await this.#orders.findAll({
      where: { identity, startedAt: { [Op.gte]: since } },
      order: [['id', 'DESC']],
      limit: MOST_ORDERS_SHOWN,
    });
    return rows.map((row) => row.get());
  }

  /** Notes an order and its key before the authority learns of it. Throws TOO_SOON when another panel has just begun one. */
  begin(certificate: Certificate, folder: string, key: string): Promise<Order> {
    return repeatedWrite(this.#db, async (tx) => {
      const now = this.#clock.now();
      if (this.openOrder(certificate.id)) throw errors.TOO_SOON('another panel orders it at this moment');
      await this.#orders.destroy({
        where: { state: { [Op.ne]: 'open' }, startedAt: { [Op.lt]: now - ORDERS_KEPT_MS } },
        transaction: tx.t,
      });
      const values = {
        certificateId: this.find(certificate.id).id,
        identity: identityOf(certificate),
        folder,
        url: '',
        state: 'open' as const,
        problem: '',
        startedAt: now,
        endedAt: 0,
      };
      const order = {
        ...values,
        id: Number((await this.#orders.create(values, { transaction: tx.t })).get('id')),
      };
      await this.#pairs.begin(tx, order.certificateId, folder, key);
      tx.apply(this.memory, { opened: order });
      return order;
    });
  }

  /** Rejects when another panel has ended the order, or removed the certificate: it must not be open again. */
  confirm(order: Order, url: string): Promise<Order> {
    return repeatedWrite(this.#db, async (tx) => {
      if (this.openOrder(order.certificateId)?.id !== order.id)
        throw errors.TOO_SOON('another panel has ended the order');
      await this.#orders.update({ url }, { where: { id: order.id }, transaction: tx.t });
      const confirmed = { ...order, url };
      tx.apply(this.memory, { opened: confirmed });
      return confirmed;
    });
  }

  /** Ends an order, and changes its certificate in the same write unless it was removed meanwhile. Changes nothing when another panel has ended it, or works on it and may still succeed. */
  end(
    order: Order,
    state: Exclude<OrderState, 'open'>,
    problem: string,
    change: (before: Certificate) => Partial<Certificate>,
    issued?: Pem,
  ): Promise<void> {
    return repeatedWrite(this.#db, async (tx) => {
      if (this.openOrder(order.certificateId)?.id !== order.id) return;
      if (!issued && this.#pairs.otherAt(order.folder) !== undefined) return;
      if (issued) await this.#pairs.issue(tx, order.certificateId, order.folder, issued);
      else await this.#pairs.drop(tx, order.folder);
      await this.#orders.update(
        { state, problem, endedAt: this.#clock.now() },
        { where: { id: order.id }, transaction: tx.t },
      );
      tx.apply(this.memory, { closed: order.certificateId });
      if (this.get(order.certificateId)) await this.#write(tx, order.certificateId, change);
    });
  }
}
