// Groups that were created, and where the count of their traffic began. A name on a client alone makes a group as well, without a row.
import { after, type Database, type Tx } from '../../kernel/index.js';

/** Bytes that are taken off the sum of the members; below zero when members' counters vanished, so that the group's own go on. */
export interface Baseline {
  readonly up: number;
  readonly down: number;
}
/** Internal to this plugin: memory follows the commit. */
export const afterGroupSave = after<{
  readonly set: ReadonlyMap<string, Baseline>;
  readonly gone: readonly string[];
}>('clients/afterGroupSave');

const ZERO: Baseline = { up: 0, down: 0 };

export class GroupStore {
  readonly #db: Database;
  readonly #groups = new Map<string, Baseline>();
  /** grows with every change of names */
  edits = 0;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  async load(): Promise<void> {
    const rows = await this.#db.query<{ name: string; baseline_up: number; baseline_down: number }>(
      'SELECT name, baseline_up, baseline_down FROM client_groups',
    );
    for (const { name, baseline_up, baseline_down } of rows)
      this.#groups.set(name, { up: baseline_up, down: baseline_down });
  }

  has(name: string): boolean {
    return this.#groups.has(name);
  }
  names(): Iterable<string> {
    return this.#groups.keys();
  }
  baseline(name: string): Baseline {
    return this.#groups.get(name) ?? ZERO;
  }

  apply(set: ReadonlyMap<string, Baseline>, gone: readonly string[]): void {
    this.edits++;
    for (const name of gone) this.#groups.delete(name);
    for (const [name, baseline] of set) this.#groups.set(name, baseline);
  }

  async set(tx: Tx, groups: ReadonlyMap<string, Baseline>, gone: readonly string[] = []): Promise<void> {
    const names = [...groups.keys(), ...gone];
    if (names.length === 0) return;
    await tx.run('DELETE FROM client_groups WHERE name IN (:names)', { names });
    for (const [name, { up, down }] of groups)
      await tx.run(
        'INSERT INTO client_groups (name, baseline_up, baseline_down) VALUES (:name, :up, :down)',
        { name, up, down },
      );
    tx.after(afterGroupSave, { set: groups, gone });
  }

  /** Before counters of these clients vanish (`sign` -1), or after some came back (1): what their groups have used stays as it is. */
  async shift(tx: Tx, clientIds: readonly number[], sign: 1 | -1): Promise<void> {
    if (clientIds.length === 0) return;
    const sums = await tx.query<{ name: string; up: number; down: number }>(
      `SELECT c.group_name AS name, sum(u.up) AS up, sum(u.down) AS down FROM clients c JOIN client_usage u ON u.client_id = c.id WHERE c.id IN (:clientIds) AND c.group_name <> '' GROUP BY c.group_name`,
      { clientIds },
    );
    if (sums.length === 0) return;
    const stored = await tx.query<{ name: string; up: number; down: number }>(
      'SELECT name, baseline_up AS up, baseline_down AS down FROM client_groups WHERE name IN (:names)',
      { names: sums.map(({ name }) => name) },
    );
    const before = new Map(stored.map(({ name, up, down }) => [name, { up, down }]));
    // Sums may come as texts.
    await this.set(
      tx,
      new Map(
        sums.map(({ name, up, down }) => [
          name,
          {
            up: (before.get(name) ?? ZERO).up + sign * Number(up),
            down: (before.get(name) ?? ZERO).down + sign * Number(down),
          },
        ]),
      ),
    );
  }
}
