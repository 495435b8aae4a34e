// All edits that callers ask for, of one client or thousands: guards, one transaction, memory, then the core. Limits
// and counted bytes go through ClientStore.
import {
  type Database,
  type Hooks,
  type PanelError,
  type Principal,
  TimeSlice,
  type Tx,
} from '../../../kernel/index.js';
import type { Applied, EngineApi } from '../../engine/contract.js';
import {
  afterClientSave,
  beforeClientDelete,
  beforeClientSave,
  type ClientChange,
  clientChanged,
  duringClientSave,
} from '../contract.js';
import type { GroupStore } from '../groups/group-store.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey } from '../model/fields.js';
import type { ClientRow } from '../model/row.js';
import {
  attachClients,
  deleteClients,
  detachClients,
  insertClients,
  updateClients,
} from '../model/statements.js';
import { saveSeen, setUsage } from '../usage/counters.js';
import { restoreUsage, retainedTotals, retainUsage } from '../usage/retained-usage.js';
import {
  attachedTo,
  byInbound,
  changeOf,
  type ClientEdit,
  inInbound,
  isEmpty,
  refsChanged,
  refsOf,
  rowEditOf,
} from './edit.js';
import { constraintError } from './uniqueness.js';

export interface WriteRequest {
  /** new clients; their ids are set by the write */
  readonly added?: readonly ClientRow[];
  /** new clients with usage take what is retained for their emails then */
  readonly restoreUsage?: boolean;
  /** what new clients used elsewhere, by the key of their email; it wins over what is retained */
  readonly usage?: ReadonlyMap<string, Partial<Usage>>;
  readonly edits?: readonly ClientEdit[];
  readonly deleted?: readonly ClientRow[];
  /** retain the usage of deleted clients for their emails */
  readonly keepTraffic?: boolean;
  /** written first, in the same transaction */
  readonly also?: ((tx: Tx) => Promise<void>) | undefined;
  /** stands before the names of fields in errors */
  readonly fieldPrefix?: string;
  /** Error if an edited client was deleted meanwhile. Without it, such clients are skipped. */
  readonly missingError?: () => PanelError;
}

/** Bytes over all inbounds; times in Unix ms. */
export type Usage = Pick<ClientRow, 'up' | 'down' | 'lastOnline' | 'lastSubFetch'>;
/** Stands for an inbound that is created in the same transaction. */
export const NEW_INBOUND = 0;

/** A write whose guards have passed. */
export interface PlannedWrite {
  /** Writes within a transaction of the caller, before which `inboundId` was created if the request has NEW_INBOUND. */
  run(tx: Tx, inboundId?: number): Promise<Omit<Written, 'applied'>>;
  /** Updates the core after the commit. */
  apply(written: Omit<Written, 'applied'>): Promise<Applied>;
}

export interface Written {
  readonly added: readonly ClientRow[];
  /** ids of the clients that this write deleted */
  readonly deleted: ReadonlySet<number>;
  readonly applied: Applied;
}

export const APPLIED: Applied = { pending: false, reason: '' };
const NOTHING: Written = { added: [], deleted: new Set(), applied: APPLIED };

const addedChange = (after: ClientRow): ClientChange => ({ kind: 'added', before: undefined, after });
const deletedChange = (before: ClientRow): ClientChange => ({ kind: 'deleted', before, after: undefined });
const hasUsage = ({ up, down, lastOnline }: ClientRow): boolean => up + down + lastOnline > 0;

export class ClientWriter {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #engine: EngineApi;
  readonly #store: ClientStore;
  readonly #groupStore: GroupStore;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    engine: EngineApi;
    store: ClientStore;
    groupStore: GroupStore;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#engine = needs.engine;
    this.#store = needs.store;
    this.#groupStore = needs.groupStore;
  }

  /** Resolves when memory and the core have the changes; `applied` says whether the core still waits for them. */
  async write(request: WriteRequest, who: Principal): Promise<Written> {
    const { added = [], edits = [], deleted = [], also } = request;
    if (added.length + deleted.length === 0 && edits.every(isEmpty) && !also) return NOTHING;
    const { run, apply } = await this.plan(request, who);
    const written = await this.#db.write(async (tx) => {
      await also?.(tx);
      return run(tx);
    });
    return { ...written, applied: await apply(written) };
  }

  /** Asks the guards. For a write that is part of another one. */
  async plan(request: WriteRequest, who: Principal): Promise<PlannedWrite> {
    const edits = (request.edits ?? []).filter((edit) => !isEmpty(edit));
    // Rows are live: copies show clients as they were before the write.
    const deletedRows = (request.deleted ?? []).map((row) => ({ ...row }));
    const newRows = request.added ?? [];
    const updates = edits.map(changeOf);
    const savedChanges = [...newRows.map(addedChange), ...updates];
    if (savedChanges.length > 0) await this.#hooks.check(beforeClientSave, { changes: savedChanges, who });
    if (deletedRows.length > 0)
      await this.#hooks.check(beforeClientDelete, {
        clients: deletedRows,
        keepTraffic: request.keepTraffic ?? false,
        who,
      });
    const keepTraffic = request.keepTraffic ?? false;
    let done = edits;
    const run = async (tx: Tx, inboundId?: number): Promise<Omit<Written, 'applied'>> => {
      const isNew = inboundId !== undefined;
      done = isNew ? edits.map((edit) => attachedTo(edit, inboundId)) : edits;
      const rows = isNew ? newRows.map((row) => inInbound(row, inboundId)) : newRows;
      const changes = isNew ? done.map(changeOf) : updates;
      const inserted = await this.#insert(tx, rows, request);
      await this.#update(tx, done, request.missingError);
      const deletedIds = await this.#delete(tx, deletedRows, keepTraffic);
      await this.#follow(tx, { inserted, edits: done, deletedIds }, who, [
        ...inserted.map(addedChange),
        ...changes,
        ...deletedRows.filter(({ id }) => deletedIds.has(id)).map(deletedChange),
      ]);
      return { added: inserted, deleted: deletedIds };
    };
    return {
      run: (tx, inboundId) => this.#named(request.fieldPrefix ?? '', run(tx, inboundId)),
      apply: async ({ added }) => {
        // Rows are live, so these are the attachments of now: another call may have attached a client meanwhile.
        const refs = [
          ...done.flatMap(refsChanged),
          ...[...(request.deleted ?? []), ...added].flatMap(refsOf),
        ];
        return refs.length === 0 ? APPLIED : this.#engine.reconcileUsers(refs);
      },
    };
  }

  /** Returns the rows as they were written. */
  async #insert(
    tx: Tx,
    rows: readonly ClientRow[],
    { restoreUsage: restore = false, usage = new Map() }: WriteRequest,
  ): Promise<readonly ClientRow[]> {
    if (rows.length === 0) return rows;
    const ids = await insertClients(tx, rows);
    const inserted: ClientRow[] = [];
    const slice = new TimeSlice();
    for (const [i, row] of rows.entries()) {
      if (slice.isOver) await slice.next();
      inserted.push({ ...row, id: ids[i] as number });
    }
    const returning = restore ? inserted.filter(hasUsage) : [];
    if (returning.length > 0) {
      // Read again: a poll may have added to it since the plan was made.
      const totals = await retainedTotals(
        tx,
        returning.map(({ email }) => email),
      );
      for (const row of returning)
        Object.assign(row, { up: 0, down: 0, lastOnline: 0 }, totals.get(emailKey(row.email)));
      const returned = returning.map(({ id }) => id);
      await restoreUsage(tx, returned);
      await this.#groupStore.shift(tx, returned, 1);
    }
    const moved = inserted.flatMap((row) => {
      const used = usage.get(emailKey(row.email));
      return used ? [Object.assign(row, used)] : [];
    });
    await setUsage(tx, moved);
    await saveSeen(tx, moved);
    return inserted;
  }

  async #update(
    tx: Tx,
    edits: readonly ClientEdit[],
    missingError: WriteRequest['missingError'],
  ): Promise<void> {
    if (edits.length === 0) return;
    const totals = edits.flatMap(({ row: { id }, usage }) => (usage ? [{ id, ...usage }] : []));
    const reset = totals.filter(({ up, down }) => up + down === 0).map(({ id }) => id);
    await this.#groupStore.shift(tx, reset, -1);
    const fieldEdits = edits.map(({ row: { id }, fields = {} }) => ({ id, fields }));
    const count = await updateClients(tx, fieldEdits);
    if (missingError && count < fieldEdits.length) throw missingError();
    await setUsage(tx, totals);
    for (const [inboundId, ids] of byInbound(edits, ({ attach }) => attach))
      await attachClients(tx, inboundId, ids);
    for (const [inboundId, ids] of byInbound(edits, ({ detach }) => detach))
      await detachClients(tx, inboundId, ids);
  }

  async #delete(tx: Tx, rows: readonly ClientRow[], keepTraffic: boolean): Promise<ReadonlySet<number>> {
    if (rows.length === 0) return NOTHING.deleted;
    const ids = rows.map(({ id }) => id);
    await this.#groupStore.shift(tx, ids, -1);
    await retainUsage(tx, ids, keepTraffic);
    return deleteClients(tx, ids);
  }

  /** Memory and hooks. */
  async #follow(
    tx: Tx,
    {
      inserted,
      edits,
      deletedIds,
    }: { inserted: readonly ClientRow[]; edits: readonly ClientEdit[]; deletedIds: ReadonlySet<number> },
    who: Principal,
    changes: readonly ClientChange[],
  ): Promise<void> {
    if (changes.length === 0) return;
    this.#store.change(tx, { added: inserted, edited: edits.map(rowEditOf), deleted: [...deletedIds] });
    await tx.during(duringClientSave, { changes, who });
    tx.after(afterClientSave, { changes, who });
    tx.emit(clientChanged, { changes, who });
  }

  /** Before the transaction of an inbound would take a broken constraint for its own. */
  async #named<T>(fieldPrefix: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw constraintError(error, fieldPrefix);
    }
  }
}
