// Does something with a client, and offers to undo it for a while.
import type { Say } from '../language/messages.js';
import { notify, notifyTrouble } from '../parts/notices.js';
import { undoable } from '../parts/undo.js';
import { refreshClients } from './refresh.js';

/** `done` is what the notice says. Rejects as `run` does. */
export async function doUndoable(
  id: number,
  run: () => Promise<unknown>,
  say: Say,
  done: string,
): Promise<void> {
  const undo = await undoable({ area: 'client', subject: String(id) }, run);
  if (!undo) return notify(done);
  notify(done, {
    text: say('undo'),
    run: () =>
      undo()
        .then(() => notify(say('undo.done')), notifyTrouble)
        .finally(refreshClients),
  });
}
