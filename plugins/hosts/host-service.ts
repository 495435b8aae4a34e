// Adds, changes, moves and deletes host groups: checks what was sent, saves it, updates subscriptions.
import { randomInt } from 'node:crypto';
import { ForeignKeyConstraintError, UniqueConstraintError } from 'sequelize';
import type { Clock, Database, Principal, SerialQueue, Tx } from '../../kernel/index.js';
import { inboundErrors } from '../inbounds/contract.js';
import { addressesOf, type HostCheck } from './host-check.js';
import type { HostChange } from './contract.js';
import { errors } from './errors.js';
import { type HostFields, hostRecord } from './fields.js';
import { type HostStore, rowViews } from './host-store.js';
import type { HostGroup } from './memory.js';
import { planRows, wantedRows } from './row-plan.js';
import { writeRows } from './row-statements.js';
import type { AddHosts, UpdateHosts } from './schemas.js';
import type { HostTables } from './tables.js';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const newGroupId = (): string =>
  Array.from({ length: 16 }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** Inbounds that were deleted meanwhile took their rows along, and groups without other rows. */
async function stillThere(tx: Tx, groups: readonly HostGroup[]): Promise<HostGroup[]> {
  const stored = await tx.query<{ id: number }>('SELECT id FROM hosts WHERE group_id IN (:groupIds)', {
    groupIds: groups.map(({ groupId }) => groupId),
  });
  const ids = new Set(stored.map(({ id }) => id));
  return groups.flatMap((group) => {
    const rows = group.rows.filter(({ id }) => ids.has(id));
    return rows.length === 0 ? [] : { ...group, rows };
  });
}

type SentFields = { readonly [K in keyof HostFields]?: HostFields[K] | null };
/** The fields that were sent; null, which existing programs send, means the initial value. */
function fieldsOf(sent: SentFields): Partial<HostFields> {
  const initial = hostRecord.create({});
  return Object.fromEntries(
    hostRecord.names.flatMap((name) => {
      const value = sent[name];
      return value === undefined ? [] : [[name, value ?? initial[name]]];
    }),
  );
}

/** Which of the ids that were sent are unknown. */
export interface Outcome {
  readonly count: number;
  readonly unknown: readonly string[];
}
interface Saved {
  readonly rows: ReturnType<typeof rowViews>;
  /** what the caller should know, to end a sentence with */
  readonly notes: string;
}

export class HostService {
  readonly #db: Database;
  readonly #groups: HostTables['groups'];
  readonly #store: HostStore;
  readonly #check: HostCheck;
  readonly #clock: Clock;
  readonly #queue: SerialQueue;

  constructor(needs: {
    db: Database;
    tables: HostTables;
    store: HostStore;
    check: HostCheck;
    clock: Clock;
    queue: SerialQueue;
  }) {
    this.#db = needs.db;
    this.#groups = needs.tables.groups;
    this.#store = needs.store;
    this.#check = needs.check;
    this.#clock = needs.clock;
    this.#queue = needs.queue;
  }

  add(sent: AddHosts, who: Principal, note?: (facts: Saved) => void): Promise<Saved> {
    return this.#queue.run(async () => {
      const groupId = sent.groupId || newGroupId();
      if (this.#store.get(groupId)) throw errors.GROUP_TAKEN(undefined, { path: 'groupId' });
      const fields = hostRecord.create({ sortOrder: this.#store.lastPlace() + 1, ...fieldsOf(sent) });
      this.#check.fields(fields);
      const { inboundIds } = sent;
      const rows = wantedRows(addressesOf(sent.hosts ?? []), inboundIds);
      this.#check.rows(rows, inboundIds);
      const now = this.#clock.now();
      const plan = planRows({ rows: [], port: 0 }, { rows, port: fields.port });
      const saved = (group: HostGroup): Saved => ({
        rows: rowViews(group),
        notes: this.#check.notes(fields, inboundIds),
      });
      const group = await this.#write(who, undefined, async (tx) => {
        await this.#groups.create(
          { groupId, createdAt: now, updatedAt: now, ...fields },
          { transaction: tx.t },
        );
        const added = {
          groupId,
          createdAt: now,
          updatedAt: now,
          fields,
          rows: await writeRows(tx, groupId, plan, now),
        };
        note?.(saved(added));
        return added;
      });
      return saved(group);
    });
  }

  /** Checks what does not depend on inbounds. Throws KERNEL_INVALID. */
  check(sent: AddHosts): void {
    this.#check.fields(hostRecord.create(fieldsOf(sent)));
    addressesOf(sent.hosts ?? []);
  }

  /** What is left out stays; a row that stays keeps its id. */
  update(groupId: string, sent: UpdateHosts, who: Principal): Promise<Saved> {
    return this.#queue.run(async () => {
      const before = this.#store.find(groupId);
      const changed = fieldsOf(sent);
      this.#check.fields(changed, before.fields);
      const fields: HostFields = { ...before.fields, ...changed };
      const inboundIds = sent.inboundIds ?? [...new Set(before.rows.map(({ inboundId }) => inboundId))];
      const addresses =
        sent.hosts === undefined
          ? [...new Map(before.rows.map((row) => [`${row.address} ${row.ownPort}`, row])).values()]
          : addressesOf(sent.hosts ?? []);
      const rows = wantedRows(
        addresses.map(({ address, ownPort }) => ({ address, ownPort })),
        inboundIds,
      );
      this.#check.rows(rows, inboundIds, groupId);
      const plan = planRows({ rows: before.rows, port: before.fields.port }, { rows, port: fields.port });
      const now = this.#clock.now();
      const group = await this.#write(who, before, async (tx) => {
        const [matched] = await this.#groups.update(
          { ...changed, updatedAt: now },
          { where: { groupId }, transaction: tx.t },
        );
        // Its last inbound may have been deleted meanwhile.
        if (matched === 0) throw errors.NOT_FOUND(`there is no host group ${groupId}`, { path: 'groupId' });
        return { ...before, updatedAt: now, fields, rows: await writeRows(tx, groupId, plan, now) };
      });
      return { rows: rowViews(group), notes: this.#check.notes(fields, inboundIds) };
    });
  }

  async #write(
    who: Principal,
    before: HostGroup | undefined,
    write: (tx: Tx) => Promise<HostGroup>,
  ): Promise<HostGroup> {
    try {
      return await this.#db.write(async (tx) => {
        if (before) await this.#store.checkVersion(tx, before.groupId);
        const after = await write(tx);
        await this.#store.saved(tx, [{ kind: before ? 'updated' : 'added', before, after }], who);
        return after;
      });
    } catch (cause) {
      if (cause instanceof ForeignKeyConstraintError)
        throw inboundErrors.NOT_FOUND('an inbound was deleted meanwhile', { path: 'inboundIds', cause });
      if (cause instanceof UniqueConstraintError)
        throw errors.GROUP_TAKEN(undefined, { path: 'groupId', cause });
      throw cause;
    }
  }

  /** Unknown ids are skipped and named. */
  setEnable(ids: readonly string[], enable: boolean, who: Principal): Promise<Outcome> {
    return this.#edit(
      ids,
      who,
      ({ fields }) => ({ ...fields, isDisabled: !enable }),
      (groupIds) => [
        'UPDATE host_groups SET is_disabled = :isDisabled, updated_at = :now WHERE group_id IN (:groupIds)',
        { isDisabled: enable ? 0 : 1, groupIds },
      ],
    );
  }

  /** Gives the groups the places from 0 on, in one statement; others stay where they are. */
  reorder(ids: readonly string[], who: Principal): Promise<Outcome> {
    const place = new Map(ids.map((id, i) => [id, i]));
    return this.#edit(
      ids,
      who,
      ({ groupId, fields }) => ({ ...fields, sortOrder: place.get(groupId) ?? 0 }),
      (groupIds) => {
        const { rows, dialect } = this.#db.sql;
        const table = `${rows({ id: 'text', place: 'integer' })} AS j`;
        return [
          dialect === 'sqlite'
            ? `UPDATE host_groups SET sort_order = j.place, updated_at = :now FROM ${table} WHERE host_groups.group_id = j.id`
            : `UPDATE host_groups JOIN ${table} ON host_groups.group_id = j.id SET host_groups.sort_order = j.place, host_groups.updated_at = :now`,
          { rows: JSON.stringify(groupIds.map((id) => [id, place.get(id)])) },
        ];
      },
    );
  }

  #edit(
    ids: readonly string[],
    who: Principal,
    change: (group: HostGroup) => HostFields,
    statement: (groupIds: readonly string[]) => readonly [sql: string, replacements: Record<string, unknown>],
  ): Promise<Outcome> {
    return this.#change(ids, who, async (tx, groups) => {
      const now = this.#clock.now();
      const [sql, replacements] = statement(groups.map(({ groupId }) => groupId));
      await tx.run(sql, { ...replacements, now });
      return groups.map((before) => ({
        kind: 'updated',
        before,
        after: { ...before, updatedAt: now, fields: change(before) },
      }));
    });
  }

  delete(ids: readonly string[], who: Principal): Promise<Outcome> {
    return this.#change(ids, who, async (tx, groups) => {
      await this.#groups.destroy({
        where: { groupId: groups.map(({ groupId }) => groupId) },
        transaction: tx.t,
      });
      return groups.map((before) => ({ kind: 'deleted', before, after: undefined }));
    });
  }

  #change(
    ids: readonly string[],
    who: Principal,
    write: (tx: Tx, groups: readonly HostGroup[]) => Promise<readonly HostChange[]>,
  ): Promise<Outcome> {
    return this.#queue.run(async () => {
      const { known, unknown } = this.#sorted(ids);
      if (known.length === 0) return { count: 0, unknown };
      return this.#db.write(async (tx) => {
        for (const { groupId } of known) await this.#store.checkVersion(tx, groupId);
        const groups = await stillThere(tx, known);
        if (groups.length > 0) await this.#store.saved(tx, await write(tx, groups), who);
        const left = new Set(groups.map(({ groupId }) => groupId));
        const gone = known.flatMap(({ groupId }) => (left.has(groupId) ? [] : groupId));
        return { count: groups.length, unknown: [...unknown, ...gone] };
      });
    });
  }

  #sorted(ids: readonly string[]): { known: HostGroup[]; unknown: string[] } {
    const unknown: string[] = [];
    const known = [...new Set(ids)].flatMap((id) => {
      const group = this.#store.get(id);
      if (!group) unknown.push(id);
      return group ?? [];
    });
    return { known, unknown };
  }
}
