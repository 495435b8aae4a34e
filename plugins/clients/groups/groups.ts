// Operations on groups, and the traffic of groups.
import { type Database, LongList, type Principal, refuseHidden, type Tx } from '../../../kernel/index.js';
import { type Applied, DONE } from '../../engine/contract.js';
import { duringGroupSave, type GroupChange } from '../contract.js';
import { errors } from '../errors.js';
import type { ArchivedGroup } from '../archive/groups-part.js';
import { type Baseline, type GroupStore, inRange } from './group-store.js';
import type { BulkOperations } from '../edits/bulk-operations.js';
import type { ClientStore } from '../model/client-store.js';
import type { ClientRow } from '../model/row.js';

const ZERO: Baseline = { up: 0, down: 0 };

export class Groups {
  readonly #db: Database;
  readonly #store: ClientStore;
  readonly #groupStore: GroupStore;
  readonly #bulk: BulkOperations;

  constructor({
    db,
    store,
    groupStore,
    bulk,
  }: { db: Database; store: ClientStore; groupStore: GroupStore; bulk: BulkOperations }) {
    this.#db = db;
    this.#store = store;
    this.#groupStore = groupStore;
    this.#bulk = bulk;
  }

  #members(name: string): ClientRow[] {
    return this.#store.roster.ordered('email').filter(({ group }) => group === name);
  }

  emails(name: string): LongList<string> {
    return LongList.of(this.#members(name), ({ email }) => email);
  }

  #sums(): Map<string, { clientCount: number; up: number; down: number }> {
    const sums = new Map(
      [...this.#groupStore.names()].map((name) => [name, { clientCount: 0, up: 0, down: 0 }]),
    );
    for (const { group, up, down } of this.#store.roster.ordered('id')) {
      if (group === '') continue;
      const sum = sums.get(group) ?? { clientCount: 0, up: 0, down: 0 };
      sums.set(group, { clientCount: sum.clientCount + 1, up: sum.up + up, down: sum.down + down });
    }
    return sums;
  }

  list() {
    return [...this.#sums()]
      .map(([name, { clientCount, ...sum }]) => {
        const baseline = this.#groupStore.baseline(name);
        const [up, down] = [Math.max(sum.up - baseline.up, 0), Math.max(sum.down - baseline.down, 0)];
        return { name, clientCount, trafficUsed: inRange(up + down), up: inRange(up), down: inRange(down) };
      })
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  async create(name: string, who: Principal, note?: (facts: { name: string }) => void) {
    await this.#add(name, (tx) => this.#baseline(tx, name), who, note);
    return { name };
  }

  has(name: string): boolean {
    return this.#groupStore.isCreated(name);
  }

  /** Creates a group of another panel, with where the count of its traffic starts there. */
  adopt(name: string, baseline: Baseline, who: Principal): Promise<void> {
    return this.#add(name, async () => baseline, who);
  }

  async #add(
    name: string,
    baselineIn: (tx: Tx) => Promise<Baseline>,
    who: Principal,
    note?: (facts: { name: string }) => void,
  ): Promise<void> {
    if (this.#groupStore.isCreated(name)) throw errors.GROUP_TAKEN(undefined, { path: 'name' });
    refuseHidden('name', name, 'label');
    await this.#db.write(async (tx) => {
      await this.#set(tx, name, await baselineIn(tx), who);
      note?.({ name });
    });
  }

  /** Whether a group has a row here: a name on clients has none. */
  isStored(name: string): boolean {
    return this.#groupStore.has(name);
  }

  /** All that is stored of groups. */
  stored(): ArchivedGroup[] {
    return [...this.#groupStore.names()].map((name) => ({
      name,
      ...this.#groupStore.baseline(name),
      created: this.#groupStore.isCreated(name),
    }));
  }

  /** Adds a group as another panel had it. */
  async restore({ name, created, ...baseline }: ArchivedGroup, who: Principal): Promise<void> {
    refuseHidden('name', name, 'label');
    await this.#db.write(async (tx) => {
      if (created) await this.#set(tx, name, baseline, who);
      else await this.#groupStore.count(tx, name, baseline);
    });
  }

  async #baseline(tx: Tx, name: string): Promise<Baseline> {
    const { up, down } = (await this.#groupStore.stored(tx, name)) ?? ZERO;
    return { up, down };
  }

  /** The group as hooks see it; undefined if it is only a name on clients. */
  async #row(tx: Tx, name: string): Promise<GroupChange['before']> {
    const stored = await this.#groupStore.stored(tx, name);
    return stored?.created ? { name, up: stored.up, down: stored.down } : undefined;
  }

  /** Replaces the group `oldName`. */
  async #set(tx: Tx, name: string, baseline: Baseline, who: Principal, oldName = name): Promise<void> {
    const before = await this.#row(tx, oldName);
    await this.#groupStore.create(tx, name, baseline, oldName === name ? [] : [oldName]);
    const after = { name, ...baseline };
    const renamed = oldName === name ? {} : { renamedFrom: oldName };
    await this.#callHook(tx, { kind: before ? 'updated' : 'added', before, after, ...renamed }, who);
  }

  #callHook(tx: Tx, change: GroupChange, who: Principal): Promise<void> {
    return tx.during(duringGroupSave, { changes: [change], who });
  }

  #exists(name: string): boolean {
    return this.#groupStore.has(name) || this.#store.roster.groups.idsOf(name).size > 0;
  }

  #require(name: string, path: string): void {
    if (!this.#exists(name)) throw errors.GROUP_NOT_FOUND(`there is no group ${name}`, { path });
  }

  async rename(
    oldName: string,
    newName: string,
    who: Principal,
  ): Promise<{ affected: number; applied: Applied }> {
    this.#require(oldName, 'oldName');
    if (oldName === newName) return { affected: 0, applied: DONE };
    refuseHidden('newName', newName, 'label');
    if (this.#groupStore.isCreated(newName)) throw errors.GROUP_TAKEN(undefined, { path: 'newName' });
    // A name on clients takes the renamed group in, with what both have used.
    return this.#bulk.regroup(this.#members(oldName), newName, who, async (tx) => {
      const [a, b] = [await this.#baseline(tx, oldName), await this.#baseline(tx, newName)];
      return this.#set(tx, newName, { up: a.up + b.up, down: a.down + b.down }, who, oldName);
    });
  }

  /** Its clients stay, without a group. */
  delete(name: string, who: Principal): Promise<{ affected: number; applied: Applied }> {
    return this.#bulk.regroup(this.#members(name), '', who, async (tx) => {
      const before = await this.#row(tx, name);
      await this.#groupStore.delete(tx, name);
      if (before) await this.#callHook(tx, { kind: 'deleted', before, after: undefined }, who);
    });
  }

  /** The traffic of the group starts at zero again; counters of its clients stay. */
  async resetTraffic(name: string, who: Principal): Promise<void> {
    this.#require(name, 'name');
    await this.#db.write(async (tx) => this.#set(tx, name, await this.#groupStore.used(tx, name), who));
  }

  async add(
    emails: readonly string[],
    name: string,
    who: Principal,
  ): Promise<{ affected: number; applied: Applied }> {
    this.requireVisible('group', name);
    const rows = this.#bulk.find(emails);
    return this.#bulk.regroup(rows, name, who, (tx) => this.ensure(tx, name, who));
  }

  /** Refuses invisible characters in the name of a new group. */
  requireVisible(path: string, name: string): void {
    if (!this.#exists(name)) refuseHidden(path, name, 'label');
  }

  /** Creates the group that clients move into, unless it was created. */
  async ensure(tx: Tx, name: string, who: Principal): Promise<void> {
    if (!(await this.#row(tx, name))) await this.#set(tx, name, await this.#baseline(tx, name), who);
  }

  remove(emails: readonly string[], who: Principal): Promise<{ affected: number; applied: Applied }> {
    return this.#bulk.regroup(this.#bulk.find(emails), '', who);
  }
}
