// The undoer of records that an update sets field by field, as most are.
import type { AuditedHook, ChangeKind } from './contract.js';
import { ADDED, type KeptChange, keptUpdate, type UndoCaller, type Undoer, undoer } from './undoers.js';

type Facts = Readonly<Record<string, unknown>>;
/** A change as most during hooks carry it. */
export interface RecordChange<R> {
  readonly kind: Exclude<ChangeKind, 'done'>;
  readonly before: R | undefined;
  readonly after: R | undefined;
}
interface RecordUndo<R> {
  /** what an admin sets, as the update takes it */
  facts(record: R): Facts;
  find(id: string): R | undefined;
  /** Sets some fields, by the owner's service. */
  set(id: string, fields: Facts, who: UndoCaller): Promise<unknown>;
  /** Makes a deleted record again, with its id. Without it, deletions cannot be undone. */
  remake?(id: string, fields: Facts, who: UndoCaller): Promise<unknown>;
}

const ONE = 'it changed several at once; an undo sets one back';
const NOTHING = 'it changed nothing that an update sets';
const DELETED = 'what was deleted cannot be made again as it was';

/** `recorded` is the entry of `AuditedHooks`: its `describe` gives kind, name and id. */
export function recordUndoer<R>(
  recorded: AuditedHook<never>,
  { facts, find, set, remake }: RecordUndo<R>,
): Undoer<never> {
  const { area } = recorded;
  const describe = recorded.describe as unknown as AuditedHook<RecordChange<R>>['describe'];
  return undoer<RecordChange<R>>({
    area,
    keep: ([change, ...others]) => {
      const described = change && describe(change);
      if (!change || !described || others.length > 0) return ONE;
      const { before, after } = change;
      if (!before) return ADDED;
      const { name, id = name } = described;
      if (!after) return remake ? [{ kind: 'deleted', id, name, before: facts(before), after: {} }] : DELETED;
      const kept = keptUpdate({ id, name }, facts(before), facts(after));
      return Object.keys(kept.after).length > 0 ? [kept] : NOTHING;
    },
    now: ({ id }) => {
      const record = find(String(id));
      return record && facts(record);
    },
    undo: async ([change], who) => {
      const { id, kind, name, before } = change as KeptChange;
      if (kind === 'deleted') await remake?.(String(id), before, who);
      else await set(String(id), before, who);
      return `${name || area} ${kind === 'deleted' ? 'is there again' : 'set back'}`;
    },
  });
}
