// Deletes a group so that it can be brought back, with its clients and with where the count of its traffic stood.
import { weir } from '../api/panel.js';
import { undoable } from '../parts/undo.js';
import { MOST_MOVED, portions } from './members.js';

/** Resolves with the function that brings it back. */
export async function deleteGroup(name: string): Promise<() => Promise<void>> {
  const emails = await weir.clients.groups.emails({ name });
  const undo = await undoable({ area: 'group', name }, () => weir.clients.groups.delete({ body: { name } }));
  return async () => {
    // The audit knows the count of its traffic; without it the group counts from zero.
    if (undo) await undo();
    else if (emails.length === 0) await weir.clients.groups.create({ body: { name } });
    for (const portion of portions(emails, MOST_MOVED))
      await weir.clients.groups.bulkAdd({ body: { emails: portion, group: name } });
  };
}
