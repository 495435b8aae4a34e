// Statements that write what clients used and when they were seen.
import type { Tx } from '../../../kernel/index.js';
import type { ClientUsage } from '../contract.js';

const MAX_BYTES = Number.MAX_SAFE_INTEGER;
const USAGE = { client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' } as const;

/** Adds bytes; the first ones create the row. Usage of deleted clients is skipped. */
export async function addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void> {
  const { rows, incoming, least, greatest, onConflict } = tx.sql;
  // SQLite reads ON CONFLICT after a join as the condition of the join, unless there is a WHERE.
  const table = `${rows(USAGE)} AS j JOIN clients ON clients.id = j.client_id WHERE true`;
  const values = JSON.stringify(
    usage.map(({ clientId, inboundId, up, down }) => [clientId, inboundId, up, down]),
  );
  const sum = (column: string) =>
    `${column} = ${least}(client_usage.${column} + ${incoming(column)}, ${MAX_BYTES})`;
  await tx.run(
    `INSERT INTO client_usage (client_id, inbound_id, up, down) SELECT j.client_id, j.inbound_id, j.up, j.down FROM ${table} ${onConflict('client_id, inbound_id', `${sum('up')}, ${sum('down')}`)}`,
    { rows: values },
  );
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch) SELECT DISTINCT j.client_id, :at, 0 FROM ${table} ${onConflict('client_id', `last_online = ${greatest}(client_seen.last_online, ${incoming('last_online')})`)}`,
    { rows: values, at },
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
