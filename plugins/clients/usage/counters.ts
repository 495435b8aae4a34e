// Statements that write what clients used and when they were seen.
import type { Tx } from '../../../kernel/index.js';
import type { ClientUsage } from '../contract.js';

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
const USAGE = { client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' } as const;

/** Rows of one statement: a longer text holds the event loop. */
const BATCH_SIZE = 5000;

/** Adds bytes; the first ones create the row. Usage of deleted clients is skipped. */
export async function addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void> {
  for (let from = 0; from < usage.length; from += BATCH_SIZE) {
    const rows = summed(usage.slice(from, from + BATCH_SIZE));
    await addBytes(tx, rows);
    await see(tx, [...new Set(rows.map(({ clientId }) => clientId))], at);
  }
}

/** Sorted, because neighbours in a table are written faster, and each counter once, because an UPDATE uses one of two rows that match. */
function summed(usage: readonly ClientUsage[]): ClientUsage[] {
  const sums: { -readonly [K in keyof ClientUsage]: ClientUsage[K] }[] = [];
  for (const entry of usage.toSorted((a, b) => a.clientId - b.clientId || a.inboundId - b.inboundId)) {
    const last = sums.at(-1);
    if (last?.clientId === entry.clientId && last.inboundId === entry.inboundId) {
      last.up += entry.up;
      last.down += entry.down;
    } else sums.push({ ...entry });
  }
  return sums;
}

/** An UPDATE, because almost all rows are there; on MariaDB an INSERT that meets existing rows takes three times as long. */
async function addBytes(tx: Tx, usage: readonly ClientUsage[]): Promise<void> {
  const given = {
    rows: JSON.stringify(usage.map(({ clientId, inboundId, up, down }) => [clientId, inboundId, up, down])),
  };
  const rows = `${tx.sql.rows(USAGE)} AS j`;
  const same = 'u.client_id = j.client_id AND u.inbound_id = j.inbound_id';
  const sum = (column: string) => `${tx.sql.least}(u.${column} + j.${column}, ${MAX_BYTES})`;
  const found = await tx.change(
    tx.sql.dialect === 'sqlite'
      ? `UPDATE client_usage AS u SET up = ${sum('up')}, down = ${sum('down')} FROM ${rows} WHERE ${same}`
      : `UPDATE ${rows} STRAIGHT_JOIN client_usage u ON ${same} SET u.up = ${sum('up')}, u.down = ${sum('down')}`,
    given,
  );
  if (found === usage.length) return;
  await tx.run(
    `INSERT INTO client_usage (client_id, inbound_id, up, down) SELECT j.client_id, j.inbound_id, j.up, j.down FROM ${rows}
     JOIN clients ON clients.id = j.client_id WHERE NOT EXISTS (SELECT 1 FROM client_usage u WHERE ${same})`,
    given,
  );
}

async function see(tx: Tx, ids: readonly number[], at: number): Promise<void> {
  const found = await tx.change(
    `UPDATE client_seen SET last_online = ${tx.sql.greatest}(last_online, :at) WHERE client_id IN (:ids)`,
    { at, ids },
  );
  if (found === ids.length) return;
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch) SELECT c.id, :at, 0 FROM clients c
     WHERE c.id IN (:ids) AND NOT EXISTS (SELECT 1 FROM client_seen s WHERE s.client_id = c.id)`,
    { at, ids },
  );
}

export interface UsageTotals {
  readonly id: number;
  readonly up: number;
  readonly down: number;
}

/** Sets the totals of clients; by inbound they start at zero again. */
export async function setUsage(tx: Tx, totals: readonly UsageTotals[]): Promise<void> {
  if (totals.length === 0) return;
  await tx.run('DELETE FROM client_usage WHERE client_id IN (:ids)', { ids: totals.map(({ id }) => id) });
  // No inbound has the id 0: the bytes of a total belong to no inbound.
  const used = totals.filter(({ up, down }) => up + down > 0);
  if (used.length === 0) return;
  await tx.run(
    `INSERT INTO client_usage (client_id, inbound_id, up, down) SELECT j.client_id, j.inbound_id, j.up, j.down FROM ${tx.sql.rows(USAGE)} AS j JOIN clients ON clients.id = j.client_id`,
    { rows: JSON.stringify(used.map(({ id, up, down }) => [id, 0, up, down])) },
  );
}

export type Fetch = readonly [clientId: number, at: number];

/** Writes when clients fetched their subscription; the latest is stored. */
export async function saveFetches(tx: Tx, fetches: readonly Fetch[]): Promise<void> {
  const { rows, incoming, greatest, onConflict } = tx.sql;
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch)
     SELECT j.client_id, 0, j.fetched FROM ${rows({ client_id: 'integer', fetched: 'integer' })} AS j JOIN clients ON clients.id = j.client_id WHERE true
     ${onConflict('client_id', `last_sub_fetch = ${greatest}(client_seen.last_sub_fetch, ${incoming('last_sub_fetch')})`)}`,
    { rows: JSON.stringify(fetches) },
  );
}

/** Writes when clients were seen by another panel; the latest is stored. */
export async function saveSeen(
  tx: Tx,
  seen: readonly { readonly id: number; readonly lastOnline: number; readonly lastSubFetch: number }[],
): Promise<void> {
  if (seen.length === 0) return;
  const { rows, incoming, greatest, onConflict } = tx.sql;
  const latest = (column: string) => `${column} = ${greatest}(client_seen.${column}, ${incoming(column)})`;
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch)
     SELECT j.client_id, j.online, j.fetched FROM ${rows({ client_id: 'integer', online: 'integer', fetched: 'integer' })} AS j WHERE true
     ${onConflict('client_id', `${latest('last_online')}, ${latest('last_sub_fetch')}`)}`,
    { rows: JSON.stringify(seen.map(({ id, lastOnline, lastSubFetch }) => [id, lastOnline, lastSubFetch])) },
  );
}
