// The limits and usage of clients as the database has them.
import type { Tx } from '../../../kernel/index.js';
import type { ClientRow } from './row.js';

export type StoredLimits = Pick<
  ClientRow,
  | 'id'
  | 'enable'
  | 'depletedCause'
  | 'totalGB'
  | 'expiryTime'
  | 'up'
  | 'down'
  | 'elsewhereUp'
  | 'elsewhereDown'
>;

const IDS_PER_SELECT = 1000;

/** Reads them within the transaction: memory may lack the write before it. Clients that are gone are left out. */
export async function storedLimits(tx: Tx, ids: readonly number[]): Promise<Map<number, StoredLimits>> {
  const found = new Map<number, StoredLimits>();
  for (let from = 0; from < ids.length; from += IDS_PER_SELECT) {
    const rows = await tx.query<StoredLimits>(
      `SELECT c.id, c.enable, c.depleted_cause AS "depletedCause", c.total_gb AS "totalGB", c.expiry_time AS "expiryTime", c.elsewhere_up AS "elsewhereUp", c.elsewhere_down AS "elsewhereDown", coalesce(sum(u.up), 0) AS up, coalesce(sum(u.down), 0) AS down
       FROM clients c LEFT JOIN client_usage u ON u.client_id = c.id WHERE c.id IN (:ids)
       GROUP BY c.id, c.enable, c.depleted_cause, c.total_gb, c.expiry_time, c.elsewhere_up, c.elsewhere_down`,
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
