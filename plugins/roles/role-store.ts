// The roles: rows, and memory that follows them, which each call asks.
import { UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type Principal,
  type Projection,
  refuseHidden,
  type Row,
  type Tx,
} from '../../kernel/index.js';
import type { RoleHoldersApi } from '../access/contract.js';
import type { GroupChange } from '../clients/contract.js';
import {
  duringRoleSave,
  type GroupRole,
  type GroupRolesApi,
  type RoleChange,
  type RoleFacts,
} from './contract.js';
import { errors } from './errors.js';
import type { RoleTables, tables } from './tables.js';

export type RoleRow = Row<typeof tables.roles>;
export interface Role extends RoleRow {
  /** for quick checks */
  readonly held: ReadonlySet<string>;
}
export type RoleFields = Pick<RoleRow, 'name' | 'kind' | 'permissions' | 'clientGroups' | 'level'>;
type RoleEdit = { readonly row: RoleRow } | { readonly deleted: number };

const MOST_ROLES = 100;

const roleOf = (row: RoleRow): Role => ({ ...row, held: new Set(row.permissions) });
const factsOf = ({ id, name, kind, permissions, clientGroups, level }: RoleRow): RoleFacts => {
  return { id, name, kind, permissions, groups: clientGroups ?? [], level };
};
const groupRoleOf = (row: RoleRow | undefined): GroupRole | undefined =>
  row?.kind === 'groups' && row.level !== ''
    ? { id: row.id, groups: row.clientGroups ?? [], level: row.level }
    : undefined;

/** What a kind opens is written in the code: a permission beside it would open more, or look as if it did. */
function requireFitting({ kind, permissions, clientGroups, level }: RoleFields): void {
  const groups = clientGroups ?? [];
  if (kind !== '' && permissions.length > 0)
    throw errors.KIND_HAS_NONE(`permissions: a role of the kind ${kind} has none; send an empty list`, {
      path: 'permissions',
    });
  if (kind === 'groups' && groups.length === 0)
    throw errors.NEEDS_GROUPS('groups: name the groups whose clients its admins may see', { path: 'groups' });
  if (kind !== 'groups' && (groups.length > 0 || level !== '')) {
    const path = groups.length > 0 ? 'groups' : 'level';
    throw errors.NO_GROUPS(`${path}: only a role of the kind groups has groups and a level`, { path });
  }
}

export class RoleStore {
  readonly #db: Database;
  readonly #rows: RoleTables['roles'];
  readonly #clock: Clock;
  readonly #holders: RoleHoldersApi;
  readonly projection: Projection<Map<number, Role>, RoleEdit>;

  constructor({
    db,
    tables,
    clock,
    holders,
  }: { db: Database; tables: RoleTables; clock: Clock; holders: RoleHoldersApi }) {
    this.#db = db;
    this.#rows = tables.roles;
    this.#clock = clock;
    this.#holders = holders;
    this.projection = db.projection<Map<number, Role>, RoleEdit>({
      load: async () =>
        new Map(
          (await this.#rows.findAll({ order: ['id'] })).map((row) => [row.get().id, roleOf(row.get())]),
        ),
      apply: (known, edit) => {
        if ('deleted' in edit) known.delete(edit.deleted);
        else known.set(edit.row.id, roleOf(edit.row));
      },
    });
  }

  list(): readonly Role[] {
    return [...this.projection.state.values()];
  }
  find(id: number): Role | undefined {
    return this.projection.state.get(id);
  }
  /** The roles of the kind groups. */
  readonly ofGroups: GroupRolesApi = {
    find: (id) => groupRoleOf(this.find(id)),
    read: async (tx, id) => groupRoleOf((await this.#rows.findByPk(id, { transaction: tx.t }))?.get()),
  };

  async requireKnown(tx: Tx, id: number, path: string): Promise<void> {
    if ((await this.#rows.count({ where: { id }, transaction: tx.t })) === 0)
      throw errors.UNKNOWN(`${path}: there is no role ${id}`, { path });
  }

  async add(fields: RoleFields, who: Principal, note?: (role: RoleRow) => void): Promise<RoleRow> {
    requireFitting(fields);
    return this.#write(fields, async (tx) => {
      if ((await this.#rows.count({ transaction: tx.t })) >= MOST_ROLES) throw errors.TOO_MANY();
      const values = { ...fields, createdAt: this.#clock.now() };
      const stored = await this.#rows.create(values, { transaction: tx.t });
      const row: RoleRow = { ...values, id: Number(stored.get('id')) };
      await this.#saved(tx, { kind: 'added', before: undefined, after: factsOf(row) }, { row }, who);
      note?.(row);
      return row;
    });
  }

  /** In force for all who have the role with the next request; connections that it no longer allows are closed. */
  async update(id: number, fields: Partial<Omit<RoleFields, 'kind'>>, who: Principal): Promise<RoleRow> {
    const saved = await this.#write(fields, async (tx) => {
      const before = await this.#one(tx, id);
      const row = { ...before, ...fields };
      requireFitting(row);
      await this.#change(tx, before, row, who);
      return row;
    });
    this.#holders.changed();
    return saved;
  }

  /** Roles go on to be about the same clients when a group gets another name. */
  async follow(
    tx: Tx,
    { changes, who }: { readonly changes: readonly GroupChange[]; readonly who: Principal },
  ): Promise<void> {
    for (const { renamedFrom, after } of changes) {
      if (renamedFrom === undefined || !after) continue;
      const named = (groups: readonly string[]) =>
        groups.map((name) => (name === renamedFrom ? after.name : name));
      const rows = await this.#rows.findAll({ where: { kind: 'groups' }, transaction: tx.t });
      for (const before of rows.map((row) => row.get())) {
        const { clientGroups } = before;
        if (!clientGroups?.includes(renamedFrom)) continue;
        const row = { ...before, clientGroups: [...new Set(named(clientGroups))].sort() };
        await this.#change(tx, before, row, who);
      }
    }
  }

  async #change(tx: Tx, before: RoleRow, row: RoleRow, who: Principal): Promise<void> {
    const { id, createdAt: _createdAt, kind: _kind, ...fields } = row;
    await this.#rows.update(fields, { where: { id }, transaction: tx.t });
    const change = { kind: 'updated', before: factsOf(before), after: factsOf(row) } as const;
    await this.#saved(tx, change, { row }, who);
  }

  /** Refuses while somebody has it: a role that is missing allows nothing, which nobody would expect. */
  async delete(id: number, who: Principal): Promise<void> {
    await this.#db.write(async (tx) => {
      const before = await this.#one(tx, id);
      if (await this.#holders.isHeld(tx, id)) throw errors.IN_USE(undefined, { path: 'id' });
      await this.#rows.destroy({ where: { id }, transaction: tx.t });
      const change = { kind: 'deleted', before: factsOf(before), after: undefined } as const;
      await this.#saved(tx, change, { deleted: id }, who);
    });
  }

  async #write<T>({ name }: Partial<RoleFields>, work: (tx: Tx) => Promise<T>): Promise<T> {
    // Two names that look alike would hide which role somebody has.
    if (name !== undefined) refuseHidden('name', name, 'name');
    try {
      return await this.#db.write(work);
    } catch (error) {
      if (error instanceof UniqueConstraintError)
        throw errors.NAME_TAKEN(undefined, { path: 'name', cause: error });
      throw error;
    }
  }

  async #saved(tx: Tx, change: RoleChange, edit: RoleEdit, who: Principal): Promise<void> {
    tx.apply(this.projection, edit);
    await tx.during(duringRoleSave, { changes: [change], who });
  }

  /** Reads the database: inside a write the projection may lack the write before it. */
  async #one(tx: Tx, id: number): Promise<RoleRow> {
    const row = await this.#rows.findByPk(id, { transaction: tx.t });
    if (!row) throw errors.NOT_FOUND(`there is no role ${id}`, { path: 'id' });
    return row.get();
  }
}
