// By which names nodes have our records. A name is stored before it is sent, so a crash leaves nothing on a node that nobody finds.
import type { Database, Tx } from '../../kernel/index.js';
import type { NamedKind, NameRow, OlderTables } from './tables.js';

export type Names = ReadonlyMap<string, NameRow>;
const AT_ONCE = 2_500;
const COLUMNS = {
  node_id: 'integer',
  kind: 'text',
  id: 'integer',
  name: 'text',
  previous: 'text',
  period: 'integer',
  seen: 'text',
} as const;
const keyOf = (kind: NamedKind, id: number): string => `${kind}.${id}`;

export class NameStore {
  readonly #db: Database;
  readonly #rows: OlderTables['names'];
  /** by node, then by kind and id */
  readonly #byNode = new Map<number, Map<string, NameRow>>();

  /** ids of inbounds, by node: they are few, and looked through often */
  readonly #inbounds = new Map<number, Set<number>>();

  constructor({ db, tables }: { db: Database; tables: OlderTables }) {
    this.#db = db;
    this.#rows = tables.names;
  }

  async load(): Promise<void> {
    this.#byNode.clear();
    this.#inbounds.clear();
    for (const row of (await this.#rows.findAll({ raw: true })) as unknown as NameRow[]) this.#put(row);
  }

  get(nodeId: number, kind: NamedKind, id: number): NameRow | undefined {
    return this.#byNode.get(nodeId)?.get(keyOf(kind, id));
  }

  of(nodeId: number): Iterable<NameRow> {
    return this.#byNode.get(nodeId)?.values() ?? [];
  }

  *inbounds(nodeId: number): Iterable<NameRow> {
    for (const id of this.#inbounds.get(nodeId) ?? []) {
      const row = this.get(nodeId, 'inbound', id);
      if (row) yield row;
    }
  }

  async save(rows: readonly NameRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      const some = rows.slice(from, from + AT_ONCE);
      await this.#db.write(async (tx) => {
        const { rows: table, onConflict, incoming } = tx.sql;
        const set = ['name', 'previous', 'period', 'seen']
          .map((one) => `${one} = ${incoming(one)}`)
          .join(', ');
        await tx.run(
          `INSERT INTO older_nodes_names (node_id, kind, id, name, previous, period, seen)
           SELECT j.node_id, j.kind, j.id, j.name, j.previous, j.period, j.seen FROM ${table(COLUMNS)} AS j WHERE true
           ${onConflict('node_id, kind, id', set)}`,
          {
            rows: JSON.stringify(
              some.map(({ nodeId, kind, id, name, previous, period, seen }) => [
                ...[nodeId, kind, id],
                ...[name, previous, period, seen],
              ]),
            ),
          },
        );
      });
      for (const row of some) this.#put(row);
    }
  }

  /** The node has none of these any more. */
  async drop(nodeId: number, kind: NamedKind, ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const some = ids.slice(from, from + AT_ONCE);
      await this.#db.write((tx) =>
        tx.run('DELETE FROM older_nodes_names WHERE node_id = :nodeId AND kind = :kind AND id IN (:ids)', {
          nodeId,
          kind,
          ids: some,
        }),
      );
      for (const id of some) {
        this.#byNode.get(nodeId)?.delete(keyOf(kind, id));
        if (kind === 'inbound') this.#inbounds.get(nodeId)?.delete(id);
      }
    }
  }

  async forgetNode(tx: Tx, nodeId: number): Promise<void> {
    await tx.run('DELETE FROM older_nodes_names WHERE node_id = :nodeId', { nodeId });
  }
  /** After the commit of `forgetNode`. */
  forgotten(nodeId: number): void {
    this.#byNode.delete(nodeId);
    this.#inbounds.delete(nodeId);
  }

  #put(row: NameRow): void {
    const known = this.#byNode.get(row.nodeId);
    if (known) known.set(keyOf(row.kind, row.id), row);
    else this.#byNode.set(row.nodeId, new Map([[keyOf(row.kind, row.id), row]]));
    if (row.kind !== 'inbound') return;
    const ids = this.#inbounds.get(row.nodeId);
    if (ids) ids.add(row.id);
    else this.#inbounds.set(row.nodeId, new Set([row.id]));
  }
}
