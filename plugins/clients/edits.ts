// Changes of clients that are there already, one or thousands the same way: one transaction, then the core is told of those whose access changed.
import { ForeignKeyConstraintError } from 'sequelize';
import type { Database, Hooks, Principal, Tx } from '../../kernel/index.js';
import type { Applied, EngineApi, UserRef } from '../engine/contract.js';
import { inboundErrors } from '../inbounds/contract.js';
import {
  afterClientSave,
  beforeClientDelete,
  beforeClientSave,
  type ClientChange,
  clientChanged,
  duringClientSave,
} from './contract.js';
import type { GroupStore } from './group-store.js';
import { keepUsage } from './kept.js';
import type { ClientFields, ClientRow } from './row.js';
import { attachClients, deleteClients, detachClients, setUsage, updateClients } from './sql.js';
import { afterClientPatch, type ClientPatched } from './store.js';

export const refsOf = ({ id: clientId, inboundIds }: Pick<ClientRow, 'id' | 'inboundIds'>): UserRef[] =>
  inboundIds.map((inboundId) => ({ inboundId, clientId }));
/** What the core sees of a client. */
export const SEEN_BY_CORE: readonly (keyof ClientFields)[] = ['enable', 'uuid', 'password', 'flow'];

/** What shall become of one client. */
export interface Edit {
  readonly row: ClientRow;
  /** not for credentials: their rules are those of a save */
  readonly fields?: Partial<Omit<ClientFields, 'email' | 'subId' | 'uuid' | 'password'>>;
  readonly counters?: { readonly up: number; readonly down: number };
  readonly attach?: readonly number[];
  readonly detach?: readonly number[];
}

/** Ids by what is to be written for them, so that as few statements are needed as there are different values. */
function byValue<V>(
  edits: readonly Edit[],
  value: (edit: Edit) => V | undefined,
): { value: V; ids: number[] }[] {
  const groups = new Map<string, { value: V; ids: number[] }>();
  for (const edit of edits) {
    const found = value(edit);
    if (found === undefined || Object.keys(found as object).length === 0) continue;
    const key = JSON.stringify(found);
    const group = groups.get(key);
    if (group) group.ids.push(edit.row.id);
    else groups.set(key, { value: found, ids: [edit.row.id] });
  }
  return [...groups.values()];
}

function byInbound(
  edits: readonly Edit[],
  inboundsOf: (edit: Edit) => readonly number[] | undefined,
): Map<number, number[]> {
  const clients = new Map<number, number[]>();
  for (const edit of edits) {
    for (const inboundId of inboundsOf(edit) ?? []) {
      const ids = clients.get(inboundId);
      if (ids) ids.push(edit.row.id);
      else clients.set(inboundId, [edit.row.id]);
    }
  }
  return clients;
}

const attachmentsAfter = ({ row, attach = [], detach = [] }: Edit): number[] =>
  [...new Set([...row.inboundIds, ...attach])].filter((id) => !detach.includes(id)).sort((a, b) => a - b);

/** Those whose access the core has to look at again. */
function refsChanged(edit: Edit): UserRef[] {
  const { row, fields = {}, attach = [], detach = [] } = edit;
  const inboundIds = SEEN_BY_CORE.some((field) => field in fields)
    ? [...new Set([...row.inboundIds, ...attach])]
    : [...new Set([...attach, ...detach])];
  return refsOf({ id: row.id, inboundIds });
}

const isEmpty = ({ fields = {}, counters, attach = [], detach = [] }: Edit): boolean =>
  Object.keys(fields).length === 0 && !counters && attach.length + detach.length === 0;

export class Edits {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #engine: EngineApi;
  readonly #groupStore: GroupStore;

  constructor({
    db,
    hooks,
    engine,
    groupStore,
  }: { db: Database; hooks: Hooks; engine: EngineApi; groupStore: GroupStore }) {
    this.#db = db;
    this.#hooks = hooks;
    this.#engine = engine;
    this.#groupStore = groupStore;
  }

  /** `also` is written in the same transaction. */
  async apply(all: readonly Edit[], who: Principal, also?: (tx: Tx) => Promise<void>): Promise<Applied> {
    const edits = all.filter((edit) => !isEmpty(edit));
    if (edits.length === 0 && !also) return { pending: false, reason: '' };
    const changes = edits.map(
      (edit): ClientChange => ({
        kind: 'updated',
        before: { ...edit.row },
        after: { ...edit.row, ...edit.fields, ...edit.counters, inboundIds: attachmentsAfter(edit) },
      }),
    );
    // Rows are live: by the end of the write they tell of the change already.
    const refs = edits.flatMap(refsChanged);
    if (edits.length > 0) await this.#hooks.check(beforeClientSave, { changes, who });
    await this.#write(async (tx) => {
      await also?.(tx);
      if (edits.length === 0) return;
      await this.#groupStore.shift(
        tx,
        edits
          .filter(({ counters }) => counters && counters.up + counters.down === 0)
          .map(({ row: { id } }) => id),
        -1,
      );
      for (const { value, ids } of byValue(edits, ({ fields }) => fields))
        await updateClients(tx, ids, value);
      for (const { value, ids } of byValue(edits, ({ counters }) => counters)) await setUsage(tx, ids, value);
      for (const [inboundId, ids] of byInbound(edits, ({ attach }) => attach))
        await attachClients(tx, inboundId, ids);
      for (const [inboundId, ids] of byInbound(edits, ({ detach }) => detach))
        await detachClients(tx, inboundId, ids);
      tx.after(
        afterClientPatch,
        edits.map(
          ({ row: { id }, fields, counters, attach, detach }): ClientPatched => ({
            id,
            fields: { ...fields, ...counters },
            ...(attach && { attach }),
            ...(detach && { detach }),
          }),
        ),
      );
      await tx.during(duringClientSave, { changes, who });
      tx.after(afterClientSave, { changes, who });
      tx.emit(clientChanged, { changes, who });
    });
    return refs.length === 0 ? { pending: false, reason: '' } : this.#engine.reconcileUsers(refs);
  }

  /** `deleted` holds the ids of those that were still there. */
  async delete(
    rows: readonly ClientRow[],
    keepTraffic: boolean,
    who: Principal,
  ): Promise<{ deleted: ReadonlySet<number>; applied: Applied }> {
    if (rows.length === 0) return { deleted: new Set(), applied: { pending: false, reason: '' } };
    const before = rows.map((row) => ({ ...row }));
    const ids = before.map(({ id }) => id);
    await this.#hooks.check(beforeClientDelete, { clients: before, keepTraffic, who });
    const deleted = await this.#db.write(async (tx) => {
      await this.#groupStore.shift(tx, ids, -1);
      await keepUsage(tx, ids, keepTraffic);
      const gone = await deleteClients(tx, ids);
      const changes = before
        .filter(({ id }) => gone.has(id))
        .map((row): ClientChange => ({ kind: 'deleted', before: row, after: undefined }));
      if (changes.length > 0) {
        await tx.during(duringClientSave, { changes, who });
        tx.after(afterClientSave, { changes, who });
        tx.emit(clientChanged, { changes, who });
      }
      return gone;
    });
    return { deleted, applied: await this.#engine.reconcileUsers(before.flatMap(refsOf)) };
  }

  async #write(work: (tx: Tx) => Promise<void>): Promise<void> {
    try {
      await this.#db.write(work);
    } catch (error) {
      if (error instanceof ForeignKeyConstraintError)
        throw inboundErrors.NOT_FOUND('an inbound was deleted meanwhile', {
          path: 'inboundIds',
          cause: error,
        });
      throw error;
    }
  }
}
