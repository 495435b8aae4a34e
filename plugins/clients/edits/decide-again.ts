// Decides inside the write whether edited clients are enabled. Edits are planned from memory before it; until it begins,
// a poll or another call may have changed usage, a limit or the switch, and an admin's choice must not be undone.
import type { Tx } from '../../../kernel/index.js';
import { mapInSlices } from '../model/map-in-slices.js';
import { decideEnabled, isSameSwitch } from '../model/depletion.js';
import { type StoredLimits, storedLimits } from '../model/stored-limits.js';
import type { ClientEdit } from './edit.js';

const LIMITS = ['enable', 'depletedCause', 'totalGB', 'expiryTime'] as const;

const concernsLimits = ({ fields = {}, usage }: ClientEdit): boolean =>
  usage !== undefined || LIMITS.some((name) => name in fields);

/** Returns the same edit where nothing has changed since its plan. */
export async function decideAgain(
  tx: Tx,
  edits: readonly ClientEdit[],
  now: number,
): Promise<readonly ClientEdit[]> {
  const concerned = edits.filter(concernsLimits);
  if (concerned.length === 0) return edits;
  const stored = await storedLimits(
    tx,
    concerned.map(({ row: { id } }) => id),
  );
  return mapInSlices(edits, (edit) => {
    const before = stored.get(edit.row.id);
    return before && concernsLimits(edit) ? decided(edit, before, now) : edit;
  });
}

function decided(edit: ClientEdit, stored: StoredLimits, now: number): ClientEdit {
  const { row, fields: planned = {}, usage, chosen } = edit;
  const { enable: _, depletedCause: __, ...fields } = planned;
  const choice = chosen !== undefined && { enable: chosen, depletedCause: null };
  const next = decideEnabled({ ...stored, ...fields, ...usage, ...choice }, now);
  if (isSameSwitch(stored, row) && isSameSwitch(next, { ...row, ...planned })) return edit;
  return { ...edit, fields: isSameSwitch(next, stored) ? fields : { ...fields, ...next, updatedAt: now } };
}
