// The fallbacks of all inbounds in memory: few, and read for each link.
import { type Database, frozen, type Principal, type Projection, type Tx } from '../../kernel/index.js';
import { type Inbound, type InboundsApi, isSamePlace } from '../inbounds/contract.js';
import { RecordVersions } from '../record-versions/contract.js';
import { duringFallbackSave } from './contract.js';
import { leadsOn, MASTERS, type Reached, reachedBySettings } from './fallback.js';
import type { Fallback } from './schema.js';
import type { FallbackRow, FallbackTables } from './tables.js';

/** By master, in order. */
type ByMaster = Map<number, readonly Fallback[]>;
type Change =
  | { readonly masterId: number; readonly fallbacks: readonly Fallback[] }
  | { readonly deletedInbounds: readonly number[] };

const NONE: readonly Fallback[] = [];
/** The fallbacks of an inbound are edited as one. */
export const fallbackVersion = new RecordVersions<readonly Fallback[]>((fallbacks) =>
  fallbacks.map(({ id: _id, ...fallback }) => fallback),
);
const inOrder = (a: Fallback, b: Fallback): number => a.sortOrder - b.sortOrder || a.id - b.id;

export class FallbackStore {
  readonly #rows: FallbackTables['fallbacks'];
  readonly #inbounds: InboundsApi;
  /** for tests, which compare it with the database */
  readonly memory: Projection<ByMaster, Change>;

  constructor({ db, tables, inbounds }: { db: Database; tables: FallbackTables; inbounds: InboundsApi }) {
    this.#rows = tables.fallbacks;
    this.#inbounds = inbounds;
    this.memory = db.projection<ByMaster, Change>({ load: () => this.#load(), apply });
  }

  /** The fallbacks of an inbound; an unknown one has none. */
  of(masterId: number): readonly Fallback[] {
    return this.memory.state.get(masterId) ?? NONE;
  }

  /** How each inbound is reached through others: by child, the master with the lowest id among those whose fallbacks act, or among all. */
  parents(): ReadonlyMap<number, Reached> {
    const parents = new Map<number, Reached>();
    const all = this.#inbounds.list();
    const masters = all.filter(({ protocol }) => MASTERS.includes(protocol));
    for (const master of masters.toSorted((a, b) => Number(leadsOn(b)) - Number(leadsOn(a)))) {
      const own = this.of(master.id);
      if (own.length === 0) {
        for (const [childId, reached] of reachedBySettings(master, this.#inbounds.beside(master)))
          if (!parents.has(childId)) parents.set(childId, reached);
      }
      for (const { childId, path } of own)
        if (this.isChild(master, childId) && !parents.has(childId))
          parents.set(childId, { masterId: master.id, path });
    }
    return parents;
  }

  /** Whether the machine of the master runs this inbound: a fallback reaches no other. */
  isChild(master: Inbound, childId: number): boolean {
    const child = childId === 0 ? undefined : this.#inbounds.get(childId);
    return child !== undefined && isSamePlace(master, child);
  }

  /** Returns another inbound with which this one is joined by fallbacks of ours; undefined for none. */
  joinedWith(id: number): number | undefined {
    const child = this.of(id).find(({ childId }) => childId !== 0)?.childId;
    if (child !== undefined) return child;
    return this.mastersOf(id)[0];
  }

  mastersOf(id: number): readonly number[] {
    return [...this.memory.state].flatMap(([masterId, fallbacks]) =>
      fallbacks.some(({ childId }) => childId === id) ? [masterId] : [],
    );
  }

  parentOf(child: Pick<Inbound, 'id'>): Reached | undefined {
    return this.parents().get(child.id);
  }

  /** Replaces the fallbacks of an inbound. */
  async replace(
    tx: Tx,
    masterId: number,
    wanted: readonly Omit<Fallback, 'id'>[],
    who: Principal,
  ): Promise<void> {
    await fallbackVersion.check(async () => (await this.#load({ masterId, tx })).get(masterId) ?? NONE);
    await this.#rows.destroy({ where: { masterId }, transaction: tx.t });
    const fallbacks: Fallback[] = [];
    for (const row of wanted) {
      const created = await this.#rows.create(
        { ...row, childId: row.childId === 0 ? null : row.childId },
        { transaction: tx.t },
      );
      fallbacks.push({ ...row, id: Number(created.get('id')) });
    }
    const change = { masterId, before: this.of(masterId), after: wanted };
    await tx.during(duringFallbackSave, { changes: [change], who });
    tx.apply(this.memory, { masterId, fallbacks });
  }

  /** The database deletes the rows of deleted inbounds in the same transaction. */
  inboundsDeleted(tx: Tx, deletedInbounds: readonly number[]): void {
    tx.apply(this.memory, { deletedInbounds });
  }

  async #load(one?: { readonly masterId: number; readonly tx: Tx }): Promise<ByMaster> {
    const byMaster: ByMaster = new Map();
    const which = one ? { where: { masterId: one.masterId }, transaction: one.tx.t } : {};
    const rows = (await this.#rows.findAll({ raw: true, ...which })) as unknown as FallbackRow[];
    for (const { childId, ...row } of rows) {
      const fallback = { ...row, childId: childId ?? 0 };
      byMaster.set(row.masterId, [...(byMaster.get(row.masterId) ?? NONE), fallback]);
    }
    for (const [masterId, fallbacks] of byMaster) byMaster.set(masterId, frozen(fallbacks.toSorted(inOrder)));
    return byMaster;
  }
}

function keep(byMaster: ByMaster, masterId: number, fallbacks: readonly Fallback[]): void {
  if (fallbacks.length === 0) byMaster.delete(masterId);
  else byMaster.set(masterId, frozen(fallbacks.toSorted(inOrder)));
}

function apply(byMaster: ByMaster, change: Change): void {
  if ('masterId' in change) {
    keep(byMaster, change.masterId, change.fallbacks);
    return;
  }
  const gone = new Set(change.deletedInbounds);
  for (const [masterId, fallbacks] of byMaster) {
    if (gone.has(masterId)) byMaster.delete(masterId);
    else if (fallbacks.some(({ childId }) => gone.has(childId)))
      keep(
        byMaster,
        masterId,
        fallbacks.filter(({ childId }) => !gone.has(childId)),
      );
  }
}
