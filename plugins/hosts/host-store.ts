// Host groups as others read them, and the one way to write changes of them.
import type { Database, Principal, Projection, Route, Tx } from '../../kernel/index.js';
import { RecordVersions } from '../record-versions/contract.js';
import { hostText } from './address.js';
import { afterHostSave, duringHostSave, type HostChange } from './contract.js';
import { errors } from './errors.js';
import {
  applyChange,
  type HostGroup,
  type HostMemory,
  type HostRow,
  loadMemory,
  type MemoryChange,
} from './memory.js';
import type { HostTables } from './tables.js';
import type { WayHost } from './way.js';

/** By code units, as everywhere else: the order must not depend on the machine's language. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byRemark = (a: HostGroup, b: HostGroup): number =>
  a.fields.sortOrder - b.fields.sortOrder || compare(a.fields.remark, b.fields.remark) || byRow(a, b);
const byRow = (a: HostGroup, b: HostGroup): number =>
  a.fields.sortOrder - b.fields.sortOrder || (a.rows[0]?.id ?? 0) - (b.rows[0]?.id ?? 0);
export const portOf = ({ fields }: HostGroup, { ownPort }: HostRow): number => ownPort ?? fields.port;

export class HostStore {
  readonly #tables: HostTables;
  /** for tests, which compare it with the database */
  readonly memory: Projection<HostMemory, MemoryChange>;

  constructor({ db, tables }: { db: Database; tables: HostTables }) {
    this.#tables = tables;
    this.memory = db.projection({ load: () => loadMemory(tables), apply: applyChange });
  }

  get(groupId: string): HostGroup | undefined {
    return this.memory.state.groups.get(groupId);
  }
  /** Throws NOT_FOUND. */
  find(groupId: string): HostGroup {
    const group = this.get(groupId);
    if (!group) throw errors.NOT_FOUND(`there is no host group ${groupId}`, { path: 'groupId' });
    return group;
  }
  list(): HostGroup[] {
    return [...this.memory.state.groups.values()].sort(byRemark);
  }
  ofInbound(inboundId: number): HostGroup[] {
    const { groups, byInbound } = this.memory.state;
    return [...(byInbound.get(inboundId) ?? [])].flatMap((id) => groups.get(id) ?? []).sort(byRemark);
  }
  tags(): string[] {
    return [...new Set(this.list().flatMap(({ fields }) => fields.tags))].sort();
  }
  lastPlace(): number {
    let last = -1;
    for (const { fields } of this.memory.state.groups.values()) last = Math.max(last, fields.sortOrder);
    return last;
  }

  /** Enabled rows of an inbound, in the order of subscriptions. */
  enabledIn(inboundId: number): WayHost[] {
    return this.ofInbound(inboundId)
      .filter(({ fields }) => !fields.isDisabled)
      .sort(byRow)
      .flatMap((group) =>
        group.rows
          .filter((row) => row.inboundId === inboundId)
          .map((row) => ({
            groupId: group.groupId,
            fields: group.fields,
            address: row.address,
            port: portOf(group, row),
          })),
      );
  }
  rowsIn(inboundId: number, except?: string): number {
    return this.ofInbound(inboundId)
      .filter(({ groupId }) => groupId !== except)
      .reduce((sum, { rows }) => sum + rows.filter((row) => row.inboundId === inboundId).length, 0);
  }

  /** Call it before the statements that write a group. */
  async checkVersion(tx: Tx, groupId: string): Promise<void> {
    await hostVersion.check(async () =>
      (await loadMemory(this.#tables, { groupId, transaction: tx.t })).groups.get(groupId),
    );
  }

  /** Makes a route take If-Match for the group in its path. */
  versioned(route: Route): Route {
    return hostVersion.guarded(route, ({ groupId }: { readonly groupId: string }) =>
      groupReply(this.find(groupId)),
    );
  }

  /** Call it after the statements that write the changes: plugins take part, and memory follows the commit. */
  async saved(tx: Tx, changes: readonly HostChange[], who: Principal): Promise<void> {
    await tx.during(duringHostSave, { changes, who });
    tx.apply(this.memory, {
      set: changes.flatMap(({ after }) => after ?? []),
      deleted: changes.flatMap(({ before, after }) => (after ? [] : (before?.groupId ?? []))),
    });
    tx.after(afterHostSave, { changes, who });
  }

  /** Call it in the transaction that deletes inbounds; the database has deleted their rows. */
  async inboundsDeleted(tx: Tx, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.run(
      'DELETE FROM host_groups WHERE NOT EXISTS (SELECT 1 FROM hosts WHERE hosts.group_id = host_groups.group_id)',
    );
    tx.apply(this.memory, { inboundsDeleted: ids });
  }
}

/** What two people may edit of a group at once. */
const hostVersion = new RecordVersions<HostGroup>((group) => groupView(group));
/** A group as archives have it. */
export const groupView = ({ groupId, fields, rows }: HostGroup) => ({
  ...fields,
  groupId,
  inboundIds: [...new Set(rows.map(({ inboundId }) => inboundId))],
  hosts: [...new Set(rows.map(hostText))],
});
/** A group as replies show it. */
export const groupReply = (group: HostGroup) => ({ ...groupView(group), version: hostVersion.of(group) });
/** Its rows as replies show them. */
export const rowViews = (group: HostGroup) =>
  group.rows.map((row) => ({
    ...group.fields,
    id: row.id,
    groupId: group.groupId,
    inboundId: row.inboundId,
    address: row.address,
    port: portOf(group, row),
    createdAt: row.createdAt,
    updatedAt: group.updatedAt,
  }));
