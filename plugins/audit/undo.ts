// Undoes the changes of one entry by the services of their owners.
import {
  type Contributed,
  type Database,
  messageOf,
  PanelError,
  type PluginContext,
  SerialQueue,
  TimeSlice,
} from '../../kernel/index.js';
import { AuditedHooks } from './contract.js';
import { differences, type Fields, secretNames } from './differences.js';
import { errors } from './errors.js';
import type { KeptStore, Undoable } from './kept-store.js';
import type { Undoing } from './undoing.js';
import { type KeptChange, sameValue, type UndoCaller, type Undoer, Undoers } from './undoers.js';

/** What is different from what the entry has left. */
interface Conflict {
  readonly id: string;
  readonly name: string;
  /** by path of the field: as the entry left it, and as it is now */
  readonly fields: Fields;
}
export interface Undone {
  /** the entry that records the undo */
  readonly entry: number;
  readonly undoes: number;
  readonly changes: number;
  readonly message: string;
}
const MOST_CONFLICTS = 50;

interface Needs {
  readonly db: Database;
  readonly keptStore: KeptStore;
  readonly undoing: Undoing;
  readonly contributions: PluginContext['contributions'];
}

export class Undo {
  readonly #db: Database;
  readonly #store: KeptStore;
  readonly #undoing: Undoing;
  readonly #contributions: PluginContext['contributions'];
  /** Two at once would both find nothing in their way. */
  readonly #queue = new SerialQueue();

  constructor({ db, keptStore, undoing, contributions }: Needs) {
    this.#db = db;
    this.#store = keptStore;
    this.#undoing = undoing;
    this.#contributions = contributions;
  }

  #of(area: string): Contributed<Undoer<never>> | undefined {
    return this.#contributions(Undoers).find(({ value }) => value.area === area);
  }

  /** Why an entry cannot be undone; blank when it can. */
  reason(area: string, at: number, found: Undoable | undefined): string {
    if (!this.#of(area)) return 'changes of this kind cannot be undone';
    if (at < this.#store.since || !found) return 'it is too old to be undone';
    if (found.undoneBy > 0) return `it was undone by entry ${found.undoneBy}`;
    return found.reason;
  }

  undo(entry: number, who: UndoCaller): Promise<Undone> {
    return this.#queue.run(() => this.#undo(entry, who));
  }

  async #undo(entry: number, who: UndoCaller): Promise<Undone> {
    const [row] = await this.#db.query<{ area: string; at: number }>(
      'SELECT area, at FROM audit_changes WHERE entry = :entry LIMIT 1',
      { entry },
    );
    if (!row) throw errors.NO_ENTRY(`there is no entry ${entry}`, { path: 'entry' });
    const owner = this.#of(row.area);
    const found = (await this.#store.of([entry])).get(entry);
    const reason = this.reason(row.area, Number(row.at), found);
    if (!owner || (found?.reason ?? '') !== '') throw errors.NOT_UNDOABLE(reason, { path: 'entry' });
    if (!found || Number(row.at) < this.#store.since) throw errors.TOO_OLD(undefined, { path: 'entry' });
    if (found.undoneBy > 0) throw errors.UNDONE(reason, { path: 'entry' });
    const changes = await this.#store.read(entry);
    const conflicts: Conflict[] = [];
    const slice = new TimeSlice();
    for (const change of changes) {
      if (slice.isOver) await slice.next();
      const conflict = this.#conflict(row.area, owner.value, change);
      if (conflict) conflicts.push(conflict);
    }
    if (conflicts.length > 0)
      throw errors.CHANGED_SINCE(undefined, {
        obj: { conflicts: conflicts.slice(0, MOST_CONFLICTS), count: conflicts.length },
      });
    const message = await this.#undoing
      .run({ entry, area: row.area, changes }, () => owner.value.undo(changes, who))
      .catch((error: unknown) => {
        if (error instanceof PanelError) throw error;
        owner.fault(`undo of ${row.area}`, error);
        throw new Error(`the undo of entry ${entry} failed: ${messageOf(error)}`, { cause: error });
      });
    const { undoneBy = 0 } = (await this.#store.of([entry])).get(entry) ?? {};
    return { entry: undoneBy, undoes: entry, changes: changes.length, message };
  }

  #conflict(area: string, { now }: Undoer<never>, change: KeptChange): Conflict | undefined {
    const { kind, id, name, after } = change;
    const current = now(change);
    if (kind === 'deleted')
      return current && { id: String(id), name, fields: { '': [null, 'a record with this id is there'] } };
    if (!current) return { id: String(id), name, fields: { '': ['there', 'deleted'] } };
    const fields = Object.keys(after).filter((field) => !sameValue(current[field], after[field]));
    if (fields.length === 0) return undefined;
    const hook = this.#contributions(AuditedHooks).find(({ value }) => value.area === area);
    const some = (of: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(fields.map((field) => [field, of[field] ?? null]));
    return {
      id: String(id),
      name,
      fields: differences(some(after), some(current), secretNames(hook?.value.secret)) ?? {},
    };
  }
}
