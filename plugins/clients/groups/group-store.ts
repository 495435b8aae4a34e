// Groups that were created, and where the count of each group's traffic starts. A name on clients is a group, too: it
// has a row only after counters of its clients were reset, and then the row is not marked as created.
import type { Database, Projection, TableModel, Tx } from '../../../kernel/index.js';
import type { tables } from '../model/tables.js';

/** Bytes that are subtracted from the sum of the members. Negative when counters of members were reset, so that the group keeps its own. */
export interface Baseline {
  readonly up: number;
  readonly down: number;
}

/** A change of a group that was created. A group that is only a name on clients has no row and no change. */
export interface GroupChange {
  readonly kind: 'added' | 'updated' | 'deleted';
  readonly before: (Baseline & { readonly name: string }) | undefined;
  readonly after: (Baseline & { readonly name: string }) | undefined;
  /** the name that its clients had for their group, where they get another one; also of one that was only a name on clients */
  readonly renamedFrom?: string;
}

interface StoredGroup extends Baseline {
  /** a caller named it: false for a name on clients that only has a baseline */
  readonly created: boolean;
}
type GroupMap = Map<string, StoredGroup>;
interface GroupsChange {
  readonly set: ReadonlyMap<string, StoredGroup>;
  readonly deleted: readonly string[];
}

const ZERO: Baseline = { up: 0, down: 0 };
/** Bytes that JSON and the database hold exactly: sums of counters that another panel invented may be beyond. */
export const inRange = (bytes: number): number =>
  Math.min(Math.max(bytes, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);

export class GroupStore {
  readonly #rows: TableModel<typeof tables.groups>;
  readonly projection: Projection<GroupMap, GroupsChange>;
  /** grows with every change */
  version = 0;

  constructor({
    db,
    tables: { groups },
  }: { db: Database; tables: { groups: TableModel<typeof tables.groups> } }) {
    this.#rows = groups;
    this.projection = db.projection<GroupMap, GroupsChange>({
      load: async () => {
        this.version++;
        const rows = await groups.findAll();
        return new Map(
          rows.map((row) => {
            const { name, baselineUp, baselineDown, created } = row.get();
            return [name, { up: baselineUp, down: baselineDown, created }];
          }),
        );
      },
      apply: (known, { set, deleted }) => {
        this.version++;
        for (const name of deleted) known.delete(name);
        for (const [name, baseline] of set) known.set(name, baseline);
      },
    });
  }

  has(name: string): boolean {
    return this.projection.state.has(name);
  }
  isCreated(name: string): boolean {
    return this.projection.state.get(name)?.created ?? false;
  }
  /** All groups that have a row. */
  names(): Iterable<string> {
    return this.projection.state.keys();
  }
  baseline(name: string): Baseline {
    const { up, down } = this.projection.state.get(name) ?? ZERO;
    return { up, down };
  }

  /** As the write sees it: memory may lack the write before. Undefined if the group has neither been created nor has a baseline. */
  async stored(tx: Tx, name: string): Promise<StoredGroup | undefined> {
    const row = (await this.#rows.findByPk(name, { transaction: tx.t }))?.get();
    return row && { up: row.baselineUp, down: row.baselineDown, created: row.created };
  }

  /** What the members of a group have used, as the write sees it. */
  async used(tx: Tx, name: string): Promise<Baseline> {
    const [sum] = await tx.query<Baseline>(
      'SELECT coalesce(sum(u.up * 1.0), 0) AS up, coalesce(sum(u.down * 1.0), 0) AS down FROM clients c JOIN client_usage u ON u.client_id = c.id WHERE c.group_name = :name',
      { name },
    );
    // MySQL gives sums as texts; whole numbers of SQLite overflow at a thousand greatest counters.
    return { up: Number(sum?.up ?? 0), down: Number(sum?.down ?? 0) };
  }

  /** Creates this group, or replaces it. */
  create(tx: Tx, name: string, baseline: Baseline, deleted: readonly string[] = []): Promise<void> {
    return this.#save(tx, new Map([[name, { ...baseline, created: true }]]), deleted);
  }
  /** Stores where the count of a name on clients starts. */
  count(tx: Tx, name: string, baseline: Baseline): Promise<void> {
    return this.#save(tx, new Map([[name, { ...baseline, created: false }]]));
  }
  delete(tx: Tx, name: string): Promise<void> {
    return this.#save(tx, new Map(), [name]);
  }

  async #save(
    tx: Tx,
    sent: ReadonlyMap<string, StoredGroup>,
    deleted: readonly string[] = [],
  ): Promise<void> {
    const groups = new Map(
      [...sent].map(([name, { up, down, created }]) => [
        name,
        { up: inRange(up), down: inRange(down), created },
      ]),
    );
    const names = [...groups.keys(), ...deleted];
    if (names.length === 0) return;
    await this.#rows.destroy({ where: { name: names }, transaction: tx.t });
    await this.#rows.bulkCreate(
      [...groups].map(([name, { up, down, created }]) => ({
        name,
        baselineUp: up,
        baselineDown: down,
        created,
      })),
      { transaction: tx.t },
    );
    tx.apply(this.projection, { set: groups, deleted });
  }

  /** Call it before counters of these clients are reset (`sign` -1) or after they are restored (1): the traffic of their groups stays as it is. */
  async shift(tx: Tx, clientIds: readonly number[], sign: 1 | -1): Promise<void> {
    if (clientIds.length === 0) return;
    const sums = await tx.query<{ name: string; up: number; down: number }>(
      `SELECT c.group_name AS name, sum(u.up * 1.0) AS up, sum(u.down * 1.0) AS down FROM clients c JOIN client_usage u ON u.client_id = c.id WHERE c.id IN (:clientIds) AND c.group_name <> '' GROUP BY c.group_name`,
      { clientIds },
    );
    if (sums.length === 0) return;
    const stored = await this.#rows.findAll({
      where: { name: sums.map(({ name }) => name) },
      transaction: tx.t,
    });
    const before = new Map(stored.map((row) => [row.get('name'), row.get()]));
    const shifted = sums.map(({ name, up, down }): [string, StoredGroup] => {
      const { baselineUp = 0, baselineDown = 0, created = false } = before.get(name) ?? {};
      // MySQL gives sums as texts.
      return [
        name,
        { up: baselineUp + sign * Number(up), down: baselineDown + sign * Number(down), created },
      ];
    });
    await this.#save(tx, new Map(shifted));
  }
}
