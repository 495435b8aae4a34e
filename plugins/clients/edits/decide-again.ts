// Decides inside the write whether edited clients are enabled. Edits are planned from memory before it; until it begins,
// a poll or another call may have changed usage, a limit or the switch, and an admin's choice must not be undone.
import type { Tx } from '../../../kernel/index.js';
import { decideEnabled } from '../model/depletion.js';
import type { ClientRow } from '../model/row.js';
import type { ClientEdit } from './edit.js';

type Switch = Pick<ClientRow, 'enable' | 'depletedCause'>;
type Stored = Switch & Pick<ClientRow, 'id' | 'totalGB' | 'expiryTime' | 'up' | 'down'>;

const LIMITS = ['enable', 'depletedCause', 'totalGB', 'expiryTime'] as const;
const IDS_PER_SELECT = 1000;

const concernsLimits = ({ fields = {}, usage }: ClientEdit): boolean =>
  usage !== undefined || LIMITS.some((name) => name in fields);

const isSame = (a: Switch, b: Switch): boolean =>
  a.enable === b.enable && a.depletedCause === b.depletedCause;

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
  return edits.map((edit) => {
    const before = stored.get(edit.row.id);
    return before && concernsLimits(edit) ? decided(edit, before, now) : edit;
  });
}

function decided(edit: ClientEdit, stored: Stored, now: number): ClientEdit {
  const { row, fields: planned = {}, usage, chosen } = edit;
  const { enable: _, depletedCause: __, ...fields } = planned;
  const choice = chosen !== undefined && { enable: chosen, depletedCause: null };
  const next = decideEnabled({ ...stored, ...fields, ...usage, ...choice }, now);
  if (isSame(stored, row) && isSame(next, { ...row, ...planned })) return edit;
  return { ...edit, fields: isSame(next, stored) ? fields : { ...fields, ...next, updatedAt: now } };
}

/** From the database: memory may lack the write before this one. */
async function storedLimits(tx: Tx, ids: readonly number[]): Promise<Map<number, Stored>> {
  const found = new Map<number, Stored>();
  for (let from = 0; from < ids.length; from += IDS_PER_SELECT) {
    const rows = await tx.query<Stored>(
      `SELECT c.id, c.enable, c.depleted_cause AS "depletedCause", c.total_gb AS "totalGB", c.expiry_time AS "expiryTime", coalesce(sum(u.up), 0) AS up, coalesce(sum(u.down), 0) AS down
       FROM clients c LEFT JOIN client_usage u ON u.client_id = c.id WHERE c.id IN (:ids)
       GROUP BY c.id, c.enable, c.depleted_cause, c.total_gb, c.expiry_time`,
      { ids: ids.slice(from, from + IDS_PER_SELECT) },
    );
    // MySQL gives sums as texts, and truth as numbers.
    for (const row of rows)
      found.set(row.id, {
        ...row,
        enable: Boolean(row.enable),
        up: Number(row.up),
        down: Number(row.down),
      });
  }
  return found;
}
