// Usage that outlives its client: retained by email until a client with that email is created again.
import type { Database, Tx } from '../../../kernel/index.js';
import type { ClientUsage } from '../contract.js';
import { emailKey } from '../model/fields.js';
import type { ClientRow } from '../model/row.js';

/** Keys of one statement. */
const KEYS_PER_SELECT = 1000;

export type RetainedBytes = Omit<ClientUsage, 'clientId'> & { readonly email: string };
export type RetainedTotals = Pick<ClientRow, 'up' | 'down' | 'lastOnline'>;

/** Call it before the clients are deleted: replaces what was retained for their emails, with nothing if `retain` is false. */
export async function retainUsage(tx: Tx, clientIds: readonly number[], retain: boolean): Promise<void> {
  await forget(tx, clientIds);
  if (!retain) return;
  await tx.run(
    `INSERT INTO client_kept_usage (email_key, inbound_id, up, down, last_online)
     SELECT c.email_key, u.inbound_id, u.up, u.down, coalesce(s.last_online, 0) FROM clients c JOIN client_usage u ON u.client_id = c.id LEFT JOIN client_seen s ON s.client_id = c.id WHERE c.id IN (:clientIds)`,
    { clientIds },
  );
}

const forget = (tx: Tx, clientIds: readonly number[]): Promise<void> =>
  tx.run(
    'DELETE FROM client_kept_usage WHERE email_key IN (SELECT email_key FROM clients WHERE id IN (:clientIds))',
    { clientIds },
  );

/** Totals that are retained, by key of the email. */
export async function retainedTotals(
  db: Pick<Database, 'query'>,
  emails: readonly string[],
): Promise<Map<string, RetainedTotals>> {
  const totals = new Map<string, RetainedTotals>();
  const keys = emails.map(emailKey);
  for (let from = 0; from < keys.length; from += KEYS_PER_SELECT) {
    const rows = await db.query<{ email_key: string; up: number; down: number; last_online: number }>(
      'SELECT email_key, sum(up) AS up, sum(down) AS down, max(last_online) AS last_online FROM client_kept_usage WHERE email_key IN (:keys) GROUP BY email_key',
      { keys: keys.slice(from, from + KEYS_PER_SELECT) },
    );
    // MySQL gives sums as texts.
    for (const { email_key, up, down, last_online } of rows)
      totals.set(email_key, {
        up: Math.min(Number(up), Number.MAX_SAFE_INTEGER),
        down: Math.min(Number(down), Number.MAX_SAFE_INTEGER),
        lastOnline: Number(last_online),
      });
  }
  return totals;
}

/** Moves what is retained for the emails of these new clients to the clients. */
export async function restoreUsage(tx: Tx, clientIds: readonly number[]): Promise<void> {
  const from =
    'FROM client_kept_usage k JOIN clients c ON c.email_key = k.email_key WHERE c.id IN (:clientIds)';
  await tx.run(
    `INSERT INTO client_usage (client_id, inbound_id, up, down) SELECT c.id, k.inbound_id, k.up, k.down ${from}`,
    { clientIds },
  );
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch) SELECT c.id, max(k.last_online), 0 ${from} GROUP BY c.id`,
    { clientIds },
  );
  await forget(tx, clientIds);
}

/** Adds bytes of connections that outlived their client. */
export async function addRetained(tx: Tx, usage: readonly RetainedBytes[], at: number): Promise<void> {
  const { rows, incoming, least, greatest, onConflict } = tx.sql;
  const sum = (column: string) =>
    `${column} = ${least}(client_kept_usage.${column} + ${incoming(column)}, ${Number.MAX_SAFE_INTEGER})`;
  await tx.run(
    `INSERT INTO client_kept_usage (email_key, inbound_id, up, down, last_online)
     SELECT j.email_key, j.inbound_id, j.up, j.down, :at FROM ${rows({ email_key: 'text', inbound_id: 'integer', up: 'integer', down: 'integer' })} AS j WHERE true
     ${onConflict('email_key, inbound_id', `${sum('up')}, ${sum('down')}, last_online = ${greatest}(client_kept_usage.last_online, ${incoming('last_online')})`)}`,
    {
      at,
      rows: JSON.stringify(
        usage.map(({ email, inboundId, up, down }) => [emailKey(email), inboundId, up, down]),
      ),
    },
  );
}
