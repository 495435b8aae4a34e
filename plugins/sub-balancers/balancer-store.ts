// The balancers: rows, memory that follows them, and what each is in the documents.
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import type { DocumentGroup, DocumentGroups } from '../sub-json/contract.js';
import { duringBalancerSave } from './contract.js';
import { groupOf } from './document-group.js';
import { errors } from './errors.js';
import type { Balancer, BalancerFields } from './fields.js';
import type { BalancerTables } from './tables.js';
import { RecordVersions } from '../record-versions/contract.js';

/** In the order of documents. The list is replaced at each change. */
interface Memory {
  list: readonly Balancer[];
}
interface Change {
  readonly set?: readonly Balancer[];
  readonly deleted?: number;
}

const MOST_BALANCERS = 200;

const inOrder = (a: Balancer, b: Balancer): number => a.sortOrder - b.sortOrder || a.id - b.id;

/** What two people may edit of a balancer at once. */
export const editedOf = ({ id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields }: Balancer) =>
  fields;
export const balancerVersion = new RecordVersions<Balancer>(editedOf);
/** As replies show it. */
export const shownBalancer = (balancer: Balancer) => ({
  ...balancer,
  version: balancerVersion.of(balancer),
});

export class BalancerStore implements DocumentGroups {
  readonly #db: Database;
  readonly #rows: BalancerTables['balancers'];
  readonly #clock: Clock;
  readonly memory: Projection<Memory, Change>;
  #known: { readonly list: readonly Balancer[]; readonly groups: readonly DocumentGroup[] } | undefined;

  constructor({ db, tables, clock }: { db: Database; tables: BalancerTables; clock: Clock }) {
    this.#db = db;
    this.#rows = tables.balancers;
    this.#clock = clock;
    this.memory = db.projection<Memory, Change>({
      load: async () => ({ list: (await this.#rows.findAll()).map((row) => row.get()).sort(inOrder) }),
      apply: (memory, { set = [], deleted }) => {
        const changed = new Set(set.map(({ id }) => id));
        memory.list = [...memory.list.filter(({ id }) => id !== deleted && !changed.has(id)), ...set].sort(
          inOrder,
        );
      },
    });
  }

  list(): readonly Balancer[] {
    return this.memory.state.list;
  }
  /** Throws NOT_FOUND. */
  find(id: number): Balancer {
    const balancer = this.list().find((one) => one.id === id);
    if (!balancer) throw errors.NOT_FOUND(`there is no subscription balancer ${id}`, { path: 'id' });
    return balancer;
  }

  groups(): readonly DocumentGroup[] {
    const list = this.list();
    if (this.#known?.list !== list)
      this.#known = {
        list,
        groups: Object.freeze(list.filter(({ enabled }) => enabled).map(groupOf)),
      };
    return this.#known.groups;
  }

  /** With an id it is one that was deleted. */
  add(
    fields: BalancerFields & { readonly id?: number },
    who: Principal,
    note?: (balancer: Balancer) => void,
  ): Promise<Balancer> {
    const now = this.#clock.now();
    return this.#db.write(async (tx) => {
      if ((await this.#rows.count({ transaction: tx.t })) >= MOST_BALANCERS) throw errors.TOO_MANY();
      const values = { ...fields, createdAt: now, updatedAt: now };
      const { id } = (await this.#rows.create(values, { transaction: tx.t })).get();
      const balancer = { ...values, id };
      await tx.during(duringBalancerSave, {
        changes: [{ kind: 'added', before: undefined, after: balancer }],
        who,
      });
      note?.(balancer);
      tx.apply(this.memory, { set: [balancer] });
      return balancer;
    });
  }

  /** `change` gets the row as it is then. */
  update(id: number, change: (before: Balancer) => BalancerFields, who: Principal): Promise<Balancer> {
    return this.#db.write(async (tx) => {
      const before = await this.#stored(tx, id);
      const balancer = {
        ...change(before),
        id,
        updatedAt: this.#clock.now(),
      };
      const { id: _id, ...values } = balancer;
      await this.#rows.update(values, { where: { id }, transaction: tx.t });
      await tx.during(duringBalancerSave, { changes: [{ kind: 'updated', before, after: balancer }], who });
      tx.apply(this.memory, { set: [balancer] });
      return balancer;
    });
  }

  delete(id: number, who: Principal): Promise<Balancer> {
    return this.#db.write(async (tx) => {
      const balancer = await this.#stored(tx, id);
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      await tx.during(duringBalancerSave, {
        changes: [{ kind: 'deleted', before: balancer, after: undefined }],
        who,
      });
      tx.apply(this.memory, { deleted: id });
      return balancer;
    });
  }

  /** Call it in the transaction that deletes inbounds. A balancer stays without them, also without any. */
  async inboundsDeleted(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    const gone = new Set(ids);
    const set = (await this.#rows.findAll({ transaction: tx.t }))
      .map((row) => row.get())
      .filter(({ inboundIds }) => inboundIds.some((id) => gone.has(id)))
      .map((balancer) => ({
        ...balancer,
        inboundIds: balancer.inboundIds.filter((id) => !gone.has(id)),
        memberWeights: Object.fromEntries(
          Object.entries(balancer.memberWeights).filter(([id]) => !gone.has(Number(id))),
        ),
      }));
    for (const { id, inboundIds, memberWeights } of set)
      await this.#rows.update({ inboundIds, memberWeights }, { where: { id }, transaction: tx.t });
    if (set.length > 0) tx.apply(this.memory, { set });
  }

  async #stored(tx: Tx, id: number): Promise<Balancer> {
    const row = await this.#rows.findByPk(id, { transaction: tx.t });
    if (!row) throw errors.NOT_FOUND(`there is no subscription balancer ${id}`, { path: 'id' });
    await balancerVersion.check(() => row.get());
    return row.get();
  }
}
