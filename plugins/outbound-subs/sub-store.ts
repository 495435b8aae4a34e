// The subscriptions: rows, and memory that follows them.
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import type { AuditTrailApi, ChangeKind } from '../audit/contract.js';
import { errors } from './errors.js';
import type { LeftOut } from './left-out.js';
import type { StoredOutbound } from './stored-outbound.js';
import type { SubTables } from './tables.js';
import { RecordVersions } from '../record-versions/contract.js';

/** A subscription; the table says what each field is. */
export interface Sub {
  readonly id: number;
  readonly remark: string;
  readonly url: string;
  readonly enabled: boolean;
  readonly allowPrivate: boolean;
  readonly allowInsecure: boolean;
  readonly tagPrefix: string;
  readonly updateInterval: number;
  readonly priority: number;
  readonly prepend: boolean;
  readonly lastUpdated: number;
  readonly lastError: string;
  readonly outbounds: readonly StoredOutbound[];
  readonly leftOut: LeftOut;
  readonly defaultTag: string;
  readonly triedAt: number;
  readonly failures: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const MOST_SUBS = 50;
/** Of all lists, in memory. */
const MOST_CHARACTERS = 16 * 1024 * 1024;

interface Memory {
  /** by priority and id; replaced at each change */
  list: readonly Sub[];
}
interface Change {
  readonly set?: readonly Sub[];
  readonly deleted?: number;
}
const inOrder = (a: Sub, b: Sub): number => a.priority - b.priority || a.id - b.id;
const sizeOf = ({ outbounds }: Pick<Sub, 'outbounds'>): number => JSON.stringify(outbounds).length;

/** What an admin sets. */
const factsOf = (sub: Sub | undefined): object | undefined => {
  if (!sub) return undefined;
  const { remark, url, enabled, allowPrivate, allowInsecure, tagPrefix, updateInterval, priority, prepend } =
    sub;
  return {
    ...{ remark, url, enabled, allowPrivate, allowInsecure },
    ...{ tagPrefix, updateInterval, priority, prepend },
  };
};

export const subVersion = new RecordVersions<Sub>((sub) => factsOf(sub));

export class SubStore {
  readonly #db: Database;
  readonly #rows: SubTables['subs'];
  readonly #clock: Clock;
  readonly #audit: AuditTrailApi | undefined;
  readonly memory: Projection<Memory, Change>;
  readonly #sizes = new WeakMap<Sub['outbounds'], number>();

  constructor({
    db,
    tables,
    clock,
    audit,
  }: { db: Database; tables: SubTables; clock: Clock; audit?: AuditTrailApi | undefined }) {
    this.#audit = audit;
    this.#db = db;
    this.#rows = tables.subs;
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

  list(): readonly Sub[] {
    return this.memory.state.list;
  }
  /** Throws NOT_FOUND. */
  find(id: number): Sub {
    const sub = this.list().find((one) => one.id === id);
    if (!sub) throw errors.NOT_FOUND(`there is no outbound subscription ${id}`, { path: 'id' });
    return sub;
  }

  /** Whether a list of this subscription has room beside the others. */
  hasRoom(id: number, outbounds: Sub['outbounds']): boolean {
    const others = this.list().filter((sub) => sub.id !== id);
    return [{ outbounds }, ...others].reduce((sum, sub) => sum + this.#sizeOf(sub), 0) <= MOST_CHARACTERS;
  }
  #sizeOf({ outbounds }: Pick<Sub, 'outbounds'>): number {
    const size = this.#sizes.get(outbounds) ?? sizeOf({ outbounds });
    this.#sizes.set(outbounds, size);
    return size;
  }

  add(
    make: (others: readonly Sub[]) => Omit<Sub, 'id' | 'createdAt' | 'updatedAt'>,
    who: Principal,
    note: ((sub: Sub) => void) | undefined,
  ): Promise<Sub> {
    return this.#db.write(async (tx) => {
      if (this.list().length >= MOST_SUBS) throw errors.TOO_MANY();
      const now = this.#clock.now();
      const values = { ...make(this.list()), createdAt: now, updatedAt: now };
      const { id } = (await this.#rows.create(values, { transaction: tx.t })).get();
      const sub = { ...values, id };
      note?.(sub);
      await this.#record(tx, who, undefined, sub);
      tx.apply(this.memory, { set: [sub] });
      return sub;
    });
  }

  /** Writes the fields that `change` returns. Without `who` it is a fetch, which is not recorded. Rejects with NOT_FOUND. */
  change(id: number, change: (before: Sub) => Partial<Sub>, who?: Principal): Promise<Sub> {
    return this.#db.write(async (tx) => {
      const before = this.find(id);
      await this.#checkVersion(tx, id);
      const after = await this.#write(tx, before, change(before));
      if (who) await this.#record(tx, who, before, after);
      return after;
    });
  }

  async #checkVersion(tx: Tx, id: number): Promise<void> {
    await subVersion.check(async () => (await this.#rows.findByPk(id, { transaction: tx.t }))?.get());
  }

  async #record(tx: Tx, who: Principal, before: Sub | undefined, after: Sub | undefined): Promise<void> {
    const kind: ChangeKind = !before ? 'added' : after ? 'updated' : 'deleted';
    const { remark: name = '', id = 0 } = after ?? before ?? {};
    const change = { kind, name, id, before: factsOf(before), after: factsOf(after) };
    // The address of a list is the key to it.
    await this.#audit?.record(tx, 'outboundSub', who, [change], ['url']);
  }

  async #write(tx: Tx, before: Sub, fields: Partial<Sub>): Promise<Sub> {
    if (Object.keys(fields).length === 0) return before;
    await this.#rows.update(fields, { where: { id: before.id }, transaction: tx.t });
    const sub = { ...before, ...fields };
    tx.apply(this.memory, { set: [sub] });
    return sub;
  }

  delete(id: number, who: Principal): Promise<Sub> {
    return this.#db.write(async (tx) => {
      const sub = this.find(id);
      await this.#checkVersion(tx, id);
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      tx.apply(this.memory, { deleted: id });
      await this.#record(tx, who, sub, undefined);
      return sub;
    });
  }

  /** Changes places with its neighbour; the order is numbered from 0. */
  move(id: number, by: 1 | -1, who: Principal): Promise<void> {
    return this.#db.write(async (tx) => {
      await this.#checkVersion(tx, id);
      const order = [...this.list()];
      const at = order.indexOf(this.find(id));
      const other = order[at + by];
      const own = order[at];
      if (own && other) [order[at], order[at + by]] = [other, own];
      for (const [priority, sub] of order.entries())
        if (sub.priority !== priority)
          await this.#record(
            tx,
            who,
            sub,
            await this.#write(tx, sub, { priority, updatedAt: this.#clock.now() }),
          );
    });
  }
}
