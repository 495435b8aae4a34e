// Undoes what the reader has just done with a record: the entries of the audit that were made meanwhile.
import type { AuditChangesReply } from '../../../../sdk/index.js';
import { session, weir } from '../api/panel.js';
import { entriesOf } from './undo-entries.js';

const MOST = 20;
/** The kind of the record in the audit, and its id; its name where that is all it has. */
export type Recorded =
  | { readonly area: string; readonly subject: string }
  | { readonly area: string; readonly name: string };

const changesOf = (record: Recorded, limit: number): Promise<AuditChangesReply> =>
  weir.audit.changes({ query: { ...record, limit } });

/**
 * Does something, and resolves with a function that undoes it; undefined where nothing of it can be undone, or no audit runs.
 * Rejects only as `run` does.
 */
export async function undoable(
  record: Recorded,
  run: () => Promise<unknown>,
): Promise<(() => Promise<void>) | undefined> {
  const before = await changesOf(record, 1).catch(() => undefined);
  await run();
  if (before === undefined) return undefined;
  const after = await changesOf(record, MOST).catch(() => []);
  const state = session.state();
  const who = state.kind === 'in' || state.kind === 'ended' ? state.name : '';
  const entries = entriesOf(after, before[0]?.id ?? 0, who);
  if (entries.length === 0) return undefined;
  return async () => {
    for (const entry of entries) await weir.audit.undo({ entry });
  };
}
