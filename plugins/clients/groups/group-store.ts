// Groups that were created, and where the count of their traffic starts. A name on a client makes a group too, without a row.
import type { Database, Projection, TableModel, Tx } from '../../../kernel/index.js';
import type { tables } from '../model/tables.js';

/** Bytes that are subtracted from the sum of the members. Negative when counters of members were reset, so that the group keeps its own. */
export interface Baseline {
  readonly up: number;
  readonly down: number;
}

type GroupMap = Map<string, Baseline>;
interface GroupsChange {
  readonly set: ReadonlyMap<string, Baseline>;
  readonly deleted: readonly string[];
}

const ZERO: Baseline = { up: 0, down: 0 };

export class GroupStore {
  readonly #rows: TableModel<typeof tables.groups>;
  readonly projection: Projection<GroupMap, GroupsChange>;
  /** grows with every change of names */
  edits = 0;

  constructor({
    db,
    tables: { groups },
  }: { db: Database; tables: { groups: TableModel<typeof tables.groups> } }) {
    this.#rows = groups;
    this.projection = db.projection<GroupMap, GroupsChange>({
      load: async () => {
        this.edits++;
        const rows = await groups.findAll();
        return new Map(
          rows.map((row) => {
            const { name, baselineUp, baselineDown } = row.get();
            return [name, { up: baselineUp, down: baselineDown }];
          }),
        );
      },
      apply: (known, { set, deleted }) => {
        this.edits++;
        for (const name of deleted) known.delete(name);
        for (const [name, baseline] of set) known.set(name, baseline);
      },
    });
  }

  has(name: string): boolean {
    return this.projection.state.has(name);
  }
  names(): Iterable<string> {
    return this.projection.state.keys();
  }
  baseline(name: string): Baseline {
    return this.projection.state.get(name) ?? ZERO;
  }

  /** As the write sees it: memory may lack the write before. Undefined if it was never created. */
  async stored(tx: Tx, name: string): Promise<Baseline | undefined> {
    const row = (await this.#rows.findByPk(name, { transaction: tx.t }))?.get();
    return row && { up: row.baselineUp, down: row.baselineDown };
  }

  /** What the members of a group have used, as the write sees it. */
  async used(tx: Tx, name: string): Promise<Baseline> {
    const [sum] = await tx.query<Baseline>(
      'SELECT coalesce(sum(u.up), 0) AS up, coalesce(sum(u.down), 0) AS down FROM clients c JOIN client_usage u ON u.client_id = c.id WHERE c.group_name = :name',
      { name },
    );
    // MySQL gives sums as texts.
    return { up: Number(sum?.up ?? 0), down: Number(sum?.down ?? 0) };
  }

  /** Replaces these groups, or creates them. */
  async set(tx: Tx, groups: ReadonlyMap<string, Baseline>, deleted: readonly string[] = []): Promise<void> {
    const names = [...groups.keys(), ...deleted];
    if (names.length === 0) return;
    await this.#rows.destroy({ where: { name: names }, transaction: tx.t });
    await this.#rows.bulkCreate(
      [...groups].map(([name, { up, down }]) => ({ name, baselineUp: up, baselineDown: down })),
      { transaction: tx.t },
    );
    tx.apply(this.projection, { set: groups, deleted });
  }

  /** Call it before counters of these clients are reset (`sign` -1) or after they are restored (1): the traffic of their groups stays as it is. */
  async shift(tx: Tx, clientIds: readonly number[], sign: 1 | -1): Promise<void> {
    if (clientIds.length === 0) return;
    const sums = await tx.query<{ name: string; up: number; down: number }>(
      `SELECT c.group_name AS name, sum(u.up) AS up, sum(u.down) AS down FROM clients c JOIN client_usage u ON u.client_id = c.id WHERE c.id IN (:clientIds) AND c.group_name <> '' GROUP BY c.group_name`,
      { clientIds },
    );
    if (sums.length === 0) return;
    const stored = await this.#rows.findAll({
      where: { name: sums.map(({ name }) => name) },
      transaction: tx.t,
    });
    const before = new Map(stored.map((row) => [row.get('name'), row.get()]));
    const shifted = sums.map(({ name, up, down }): [string, Baseline] => {
      const { baselineUp = 0, baselineDown = 0 } = before.get(name) ?? {};
      // MySQL gives sums as texts.
      return [name, { up: baselineUp + sign * Number(up), down: baselineDown + sign * Number(down) }];
    });
    await this.set(tx, new Map(shifted));
  }
}
