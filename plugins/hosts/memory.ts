// All host groups in memory, by id and by inbound.
import type { Tx } from '../../kernel/index.js';
import type { HostAddress } from './address.js';
import { type HostFields, hostRecord } from './fields.js';
import type { HostTables } from './tables.js';

export interface HostRow extends HostAddress {
  readonly id: number;
  readonly inboundId: number;
  /** Unix ms */
  readonly createdAt: number;
}
export interface HostGroup {
  readonly groupId: string;
  /** Unix ms */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly fields: HostFields;
  /** in the order of the group */
  readonly rows: readonly HostRow[];
}

export interface HostMemory {
  readonly groups: Map<string, HostGroup>;
  /** ids of the groups that have rows there */
  readonly byInbound: Map<number, Set<string>>;
}
export interface MemoryChange {
  readonly set?: readonly HostGroup[];
  readonly deleted?: readonly string[];
  readonly inboundsDeleted?: readonly number[];
}

function forget({ groups, byInbound }: HostMemory, groupId: string): void {
  for (const { inboundId } of groups.get(groupId)?.rows ?? []) {
    const there = byInbound.get(inboundId);
    there?.delete(groupId);
    if (there?.size === 0) byInbound.delete(inboundId);
  }
  groups.delete(groupId);
}

function put(memory: HostMemory, group: HostGroup): void {
  forget(memory, group.groupId);
  memory.groups.set(group.groupId, group);
  for (const { inboundId } of group.rows) {
    const there = memory.byInbound.get(inboundId);
    if (there) there.add(group.groupId);
    else memory.byInbound.set(inboundId, new Set([group.groupId]));
  }
}

export function applyChange(
  memory: HostMemory,
  { set = [], deleted = [], inboundsDeleted = [] }: MemoryChange,
): void {
  for (const groupId of deleted) forget(memory, groupId);
  for (const group of set) put(memory, group);
  for (const inboundId of inboundsDeleted)
    for (const groupId of [...(memory.byInbound.get(inboundId) ?? [])]) {
      const group = memory.groups.get(groupId) as HostGroup;
      const rows = group.rows.filter((row) => row.inboundId !== inboundId);
      if (rows.length === 0) forget(memory, groupId);
      else put(memory, { ...group, rows });
    }
}

/** All groups, or one within a transaction. */
export async function loadMemory(
  { groups, hosts }: HostTables,
  one?: { readonly groupId: string; readonly transaction: Tx['t'] },
): Promise<HostMemory> {
  const which = one ? { where: { groupId: one.groupId }, transaction: one.transaction } : {};
  const memory: HostMemory = { groups: new Map(), byInbound: new Map() };
  const rows = new Map<string, HostRow[]>();
  for (const row of await hosts.findAll({
    ...which,
    order: [
      ['position', 'ASC'],
      ['id', 'ASC'],
    ],
  })) {
    const { groupId, position: _place, ...host } = row.get();
    const list = rows.get(groupId);
    if (list) list.push(host);
    else rows.set(groupId, [host]);
  }
  for (const row of await groups.findAll(which)) {
    const { groupId, createdAt, updatedAt, ...fields } = row.get();
    put(memory, {
      groupId,
      createdAt,
      updatedAt,
      fields: hostRecord.create(fields),
      rows: rows.get(groupId) ?? [],
    });
  }
  return memory;
}
