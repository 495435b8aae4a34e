// All edits that callers ask for, of one client or thousands: guards, one transaction, memory, then the core. Limits
// and counted bytes go through ClientStore.
import {
  type Clock,
  type Database,
  type Hooks,
  PanelError,
  type Principal,
  type Tx,
} from '../../../kernel/index.js';
import { mapInSlices } from '../model/map-in-slices.js';
import { type EngineApi, DONE } from '../../engine/contract.js';
import {
  afterClientSave,
  beforeClientDelete,
  beforeClientSave,
  type ClientChange,
  clientChanged,
  duringClientSave,
} from '../contract.js';
import type { ChangedCredentials, ClientCredentials } from '../credentials/client-credentials.js';
import { credentialsIn, withCredentials } from '../credentials/merged.js';
import type { SentCredentials } from '../credentials/sent.js';
import type { Inbound, LocalInboundsApi } from '../../inbounds/contract.js';
import type { GroupStore } from '../groups/group-store.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey } from '../model/fields.js';
import type { ClientRow } from '../model/row.js';
import { storedClient } from '../model/stored-client.js';
import {
  attachClients,
  deleteClients,
  detachClients,
  insertClients,
  updateClients,
} from '../model/statements.js';
import { clientVersion } from '../model/version.js';
import { saveSeen, setUsage } from '../usage/counters.js';
import { restoreUsage, retainedTotals, retainUsage } from '../usage/retained-usage.js';
import { decideAgain } from './decide-again.js';
import {
  addedChange,
  attachedTo,
  attachmentsAfter,
  byInbound,
  changeOf,
  type ClientEdit,
  deletedChange,
  isEmpty,
  marked,
  refsChanged,
  refsOf,
  rowEditOf,
} from './edit.js';
import { constraintError } from './uniqueness.js';
import {
  type Changes,
  type Inserted,
  NO_CHANGES,
  type PlannedWrite,
  type WriteRequest,
  type Written,
} from './write-request.js';

const NOT_SENT: ReadonlyMap<ClientRow, SentCredentials> = new Map();

const hasUsage = ({ up, down, lastOnline }: ClientRow): boolean => up + down + lastOnline > 0;

export class ClientWriter {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #engine: EngineApi;
  readonly #store: ClientStore;
  readonly #groupStore: GroupStore;
  readonly #credentials: ClientCredentials;
  readonly #local: LocalInboundsApi | undefined;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    clock: Clock;
    engine: EngineApi;
    store: ClientStore;
    groupStore: GroupStore;
    credentials: ClientCredentials;
    localInbounds?: LocalInboundsApi;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#engine = needs.engine;
    this.#store = needs.store;
    this.#groupStore = needs.groupStore;
    this.#credentials = needs.credentials;
    this.#local = needs.localInbounds;
  }

  /** Resolves when memory and the core have the changes; `applied` says whether the core still waits for them. */
  async write(request: WriteRequest, who: Principal): Promise<Written> {
    const { added = [], edits = [], deleted = [], also } = request;
    if (added.length + deleted.length === 0 && edits.every(isEmpty) && !also && !request.leaveOut)
      return { ...NO_CHANGES, applied: DONE };
    const { run, apply } = await this.plan(request, who);
    // A failed commit forgets the keys of credentials as well.
    const written = await this.#credentials.during(() =>
      this.#db.write(async (tx) => {
        await also?.(tx);
        const changes = await run(tx);
        await request.settle?.(tx, changes);
        request.committing?.(changes);
        return changes;
      }),
    );
    return { ...written, applied: await apply(written) };
  }

  /** Asks the guards. For a write that is part of another one. */
  async plan(request: WriteRequest, who: Principal): Promise<PlannedWrite> {
    const edits = (request.edits ?? []).filter((edit) => !isEmpty(edit));
    // Rows are live: copies show clients as they were before the write.
    const deletedRows = await mapInSlices(request.deleted ?? [], (row) => ({ ...row }));
    const { added: newRows = [], keepTraffic = false } = request;
    const updates = await mapInSlices(edits, changeOf);
    const partsOf = (row: ClientRow | undefined) => row && request.parts?.get(row);
    const savedChanges = [
      ...newRows.map((row) => addedChange(row, partsOf(row), request.returning)),
      ...updates,
    ];
    if (savedChanges.length > 0) await this.#hooks.check(beforeClientSave, { changes: savedChanges, who });
    if (deletedRows.length > 0)
      await this.#hooks.check(beforeClientDelete, {
        clients: deletedRows,
        keepTraffic,
        who,
      });
    let done: readonly ClientEdit[] = edits;
    const one = edits[0]?.row ?? deletedRows[0];
    const run = async (tx: Tx, saving?: Inbound): Promise<Changes> => {
      if (one) await clientVersion.check(() => storedClient(tx, one.id));
      if (saving) for (const row of newRows) row.inboundIds = row.inboundIds.map((id) => id || saving.id);
      const leftOut = (await request.leaveOut?.(tx)) ?? NO_CHANGES.deleted;
      const meant = leftOut.size === 0 ? edits : edits.filter(({ row }) => !leftOut.has(row.id));
      const toDelete = deletedRows.filter(({ id }) => !leftOut.has(id));
      const placed = saving ? meant.map((edit) => attachedTo(edit, saving.id)) : meant;
      done = await decideAgain(tx, placed, this.#clock.now());
      const changes = await mapInSlices(
        done,
        (edit, i) => (edit === edits[i] && updates[i]) || changeOf(edit),
      );
      const { inserted, sources, refused } = await this.#insert(tx, newRows, request, saving);
      const changed = await this.#update(tx, done, request, saving);
      const deletedIds = await this.#delete(tx, toDelete, keepTraffic);
      const all = [
        ...inserted.map((row, i) => addedChange(row, partsOf(sources[i]), request.returning)),
        ...changes.map((change) => withCredentials(change, changed)),
        ...toDelete.filter(({ id }) => deletedIds.has(id)).map(deletedChange),
      ];
      await this.#follow(tx, { inserted, edits: done, changed, deletedIds }, who, marked(all, request));
      return { added: inserted, refused, changed, deleted: deletedIds };
    };
    return {
      run: (tx, saving) =>
        this.#named(
          request.fieldPrefix ?? '',
          this.#credentials.during(() => run(tx, saving)),
        ),
      apply: async ({ added, changed }) => {
        // Rows are live: another call may have attached a client meanwhile.
        const refs = [
          ...done.flatMap((edit) => refsChanged(edit, this.#local)),
          ...[...(request.deleted ?? []), ...added].flatMap(refsOf),
          ...[...changed].flatMap(([id, own]) => refsOf({ id, inboundIds: [...own.keys()] })),
        ];
        return refs.length === 0 ? DONE : this.#engine.reconcileUsers(refs);
      },
    };
  }

  /** Returns the rows as they were written, and those that they were planned as. */
  async #insert(
    tx: Tx,
    rows: readonly ClientRow[],
    {
      restoreUsage: restore = false,
      usage = new Map(),
      credentials = NOT_SENT,
      fieldPrefix = '',
      sharing,
    }: WriteRequest,
    saving: Inbound | undefined,
  ): Promise<Inserted> {
    if (rows.length === 0) return { inserted: [], sources: [], refused: [] };
    const drafts = await this.#credentials.draft(tx, rows, credentials, { fieldPrefix, saving });
    const accepted = rows.flatMap((row, i) => {
      const own = drafts[i];
      return own === undefined || own instanceof PanelError ? [] : [{ row, drafts: own }];
    });
    const refused = rows.flatMap((row, i) => {
      const error = drafts[i];
      return error instanceof PanelError ? [{ row, error }] : [];
    });
    const sources = accepted.map(({ row }) => row);
    if (accepted.length === 0) return { inserted: [], sources, refused };
    const ids = await insertClients(tx, sources, sharing);
    const inserted = await mapInSlices(accepted, ({ row, drafts: own }, i) =>
      Object.assign(row, { id: ids[i] as number, credentials: credentialsIn(own) }),
    );
    await this.#credentials.insert(
      tx,
      accepted.map(({ drafts: own }, i) => ({ clientId: ids[i] as number, drafts: own })),
    );
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
      if (!used) return [];
      const { lastOnline, lastSubFetch } = row;
      // Times go forward only, as in the database.
      const seen = {
        lastOnline: Math.max(lastOnline, used.lastOnline ?? 0),
        lastSubFetch: Math.max(lastSubFetch, used.lastSubFetch ?? 0),
      };
      return [Object.assign(row, used, seen)];
    });
    await setUsage(tx, moved);
    await saveSeen(tx, moved);
    return { inserted, sources, refused };
  }

  async #update(
    tx: Tx,
    edits: readonly ClientEdit[],
    { missingError, fieldPrefix = '' }: WriteRequest,
    saving: Inbound | undefined,
  ): Promise<ChangedCredentials> {
    const changed: ChangedCredentials = new Map();
    if (edits.length === 0) return changed;
    const totals = edits.flatMap(({ row: { id }, usage }) => (usage ? [{ id, ...usage }] : []));
    const reset = totals.filter(({ up, down }) => up + down === 0).map(({ id }) => id);
    await this.#groupStore.shift(tx, reset, -1);
    const fieldEdits = edits.flatMap(({ row: { id }, fields = {} }) =>
      Object.keys(fields).length > 0 ? [{ id, fields }] : [],
    );
    const count = await updateClients(tx, fieldEdits);
    if (missingError && count < fieldEdits.length) throw missingError();
    await setUsage(tx, totals);
    const editOf = new Map(edits.map((edit) => [edit.row.id, edit]));
    for (const [inboundId, ids] of byInbound(edits, ({ attach }) => attach)) {
      await attachClients(tx, inboundId, ids);
      const attached = ids.flatMap((id) => editOf.get(id) ?? []);
      await this.#credentials.attach(tx, inboundId, attached, changed, saving);
    }
    for (const [inboundId, ids] of byInbound(edits, ({ detach }) => detach)) {
      await this.#credentials.release(tx, ids, inboundId);
      await detachClients(tx, inboundId, ids);
    }
    for (const edit of edits)
      if (edit.credentials)
        await this.#credentials.update(
          tx,
          {
            row: edit.row,
            inboundIds: attachmentsAfter(edit),
            sent: edit.credentials,
            fieldPrefix,
            saving,
          },
          changed,
        );
    return changed;
  }

  async #delete(tx: Tx, rows: readonly ClientRow[], keepTraffic: boolean): Promise<ReadonlySet<number>> {
    if (rows.length === 0) return NO_CHANGES.deleted;
    const ids = rows.map(({ id }) => id);
    await this.#groupStore.shift(tx, ids, -1);
    await retainUsage(tx, ids, keepTraffic);
    await this.#credentials.release(tx, ids);
    return deleteClients(tx, ids);
  }

  /** Memory and hooks. */
  async #follow(
    tx: Tx,
    {
      inserted,
      edits,
      changed,
      deletedIds,
    }: {
      inserted: readonly ClientRow[];
      edits: readonly ClientEdit[];
      changed: ChangedCredentials;
      deletedIds: ReadonlySet<number>;
    },
    who: Principal,
    changes: readonly ClientChange[],
  ): Promise<void> {
    if (changes.length === 0) return;
    this.#store.change(tx, {
      added: inserted,
      edited: await mapInSlices(edits, (edit) => rowEditOf(edit, changed.get(edit.row.id))),
      deleted: [...deletedIds],
    });
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
