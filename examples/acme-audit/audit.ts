import type { Clock, Principal, Tx } from '@weir-panel/weir/kernel';
import type { Tables } from './tables.js';

/** The recorded fields of a client, an inbound and so on; no secrets. */
export type Facts = object;
export interface Change {
  readonly kind: string;
  readonly before: Facts | undefined;
  readonly after: Facts | undefined;
}

export class Audit {
  readonly #clock: Clock;
  readonly #entries: Tables['entries'];

  constructor({ clock, tables }: { clock: Clock; tables: Tables }) {
    this.#clock = clock;
    this.#entries = tables.entries;
  }

  /** One statement for all changes of a call, in the transaction that makes them. */
  async record(tx: Tx, about: string, who: Principal, changes: readonly Change[]): Promise<void> {
    const rows = changes.map(({ kind, before, after }) => [
      kind,
      JSON.stringify(before ?? null),
      JSON.stringify(after ?? null),
    ]);
    await tx.run(
      `INSERT INTO x_acme_audit_entries (at, who_kind, who, about, \`change\`, old, fresh)
       SELECT :at, :kind, :name, :about, j.kind, j.old, j.fresh
       FROM ${tx.sql.rows({ kind: 'text', old: 'text', fresh: 'text' })} AS j`,
      { at: this.#clock.now(), kind: who.kind, name: who.name, about, rows: JSON.stringify(rows) },
    );
  }

  async last(limit: number) {
    const rows = await this.#entries.findAll({ order: [['id', 'DESC']], limit });
    return rows.map((row) => {
      const { at, whoKind, who, about, change, old, fresh } = row.get();
      return { at, whoKind, who, about, change, before: JSON.parse(old), after: JSON.parse(fresh) };
    });
  }
}
