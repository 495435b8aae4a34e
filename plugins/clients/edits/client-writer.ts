// The only way to add, edit and delete clients, one or thousands: guards, one transaction, memory, then the core.
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
import { setUsage } from '../usage/counters.js';
import { restoreUsage, retainedTotals, retainUsage } from '../usage/retained-usage.js';
import { byInbound, changeOf, type Edit, isEmpty, refsChanged, refsOf, rowEditOf } from './edit.js';
import { constraintError } from './uniqueness.js';

export interface Plan {
  /** New clients; their ids are set by the write. Those with usage get what is retained for their emails. */
  readonly added?: readonly ClientRow[];
  readonly edits?: readonly Edit[];
  readonly deleted?: readonly ClientRow[];
  /** retain the usage of deleted clients for their emails */
  readonly keepTraffic?: boolean;
  /** written first, in the same transaction */
  readonly also?: ((tx: Tx) => Promise<void>) | undefined;
  /** stands before the names of fields in errors */
  readonly path?: string;
  /** Error if an edited client was deleted meanwhile. Without it, such clients are skipped. */
  readonly missing?: () => PanelError;
}

export interface Written {
  readonly added: readonly ClientRow[];
  /** ids of the clients that this write deleted */
  readonly deleted: ReadonlySet<number>;
  readonly applied: Applied;
}

export const APPLIED: Applied = { pending: false, reason: '' };
const NOTHING: Written = { added: [], deleted: new Set(), applied: APPLIED };

const added = (after: ClientRow): ClientChange => ({ kind: 'added', before: undefined, after });
const deleted = (before: ClientRow): ClientChange => ({ kind: 'deleted', before, after: undefined });
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
  async write(plan: Plan, who: Principal): Promise<Written> {
    const edits = (plan.edits ?? []).filter((edit) => !isEmpty(edit));
    // Rows are live: copies show clients as they were before the write.
    const before = (plan.deleted ?? []).map((row) => ({ ...row }));
    const rows = plan.added ?? [];
    if (rows.length + edits.length + before.length === 0 && !plan.also) return NOTHING;
    const updates = edits.map(changeOf);
    const saved = [...rows.map(added), ...updates];
    if (saved.length > 0) await this.#hooks.check(beforeClientSave, { changes: saved, who });
    if (before.length > 0)
      await this.#hooks.check(beforeClientDelete, {
        clients: before,
        keepTraffic: plan.keepTraffic ?? false,
        who,
      });
    const written = await this.#transact(plan.path ?? '', async (tx) => {
      await plan.also?.(tx);
      const inserted = await this.#insert(tx, rows);
      await this.#update(tx, edits, plan.missing);
      const gone = await this.#delete(tx, before, plan.keepTraffic ?? false);
      await this.#follow(tx, { inserted, edits, gone }, who, [
        ...inserted.map(added),
        ...updates,
        ...before.filter(({ id }) => gone.has(id)).map(deleted),
      ]);
      return { added: inserted, deleted: gone };
    });
    // Rows are live, so these are the attachments of now: another call may have attached a client meanwhile.
    const refs = [
      ...edits.flatMap(refsChanged),
      ...[...(plan.deleted ?? []), ...written.added].flatMap(refsOf),
    ];
    return { ...written, applied: refs.length === 0 ? APPLIED : await this.#engine.reconcileUsers(refs) };
  }

  /** Returns the rows as they were written. */
  async #insert(tx: Tx, rows: readonly ClientRow[]): Promise<readonly ClientRow[]> {
    if (rows.length === 0) return rows;
    const ids = await insertClients(tx, rows);
    const inserted: ClientRow[] = [];
    const slice = new TimeSlice();
    for (const [i, row] of rows.entries()) {
      if (slice.isOver) await slice.next();
      inserted.push({ ...row, id: ids[i] as number });
    }
    const returning = inserted.filter(hasUsage);
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
    return inserted;
  }

  async #update(tx: Tx, edits: readonly Edit[], missing: Plan['missing']): Promise<void> {
    if (edits.length === 0) return;
    const totals = edits.flatMap(({ row: { id }, counters }) => (counters ? [{ id, ...counters }] : []));
    const reset = totals.filter(({ up, down }) => up + down === 0).map(({ id }) => id);
    await this.#groupStore.shift(tx, reset, -1);
    const fieldEdits = edits.map(({ row: { id }, fields = {} }) => ({ id, fields }));
    const count = await updateClients(tx, fieldEdits);
    if (missing && count < fieldEdits.length) throw missing();
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
      gone,
    }: { inserted: readonly ClientRow[]; edits: readonly Edit[]; gone: ReadonlySet<number> },
    who: Principal,
    changes: readonly ClientChange[],
  ): Promise<void> {
    if (changes.length === 0) return;
    this.#store.change(tx, { added: inserted, edited: edits.map(rowEditOf), deleted: [...gone] });
    await tx.during(duringClientSave, { changes, who });
    tx.after(afterClientSave, { changes, who });
    tx.emit(clientChanged, { changes, who });
  }

  async #transact<T>(path: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#db.write(work);
    } catch (error) {
      throw constraintError(error, path);
    }
  }
}
