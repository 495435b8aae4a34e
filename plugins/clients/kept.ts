// Traffic that outlives its client: kept under the email, until a client of that email is created again.
import type { Database, Tx } from '../../kernel/index.js';
import type { ClientUsage } from './contract.js';
import { type ClientRow, emailKey } from './row.js';

/** So many keys stand in one statement. */
const SLICE = 1000;

/** Replaces what was kept of these emails before. Called before the clients are deleted; `keep` false only forgets. */
export async function keepUsage(tx: Tx, clientIds: readonly number[], keep: boolean): Promise<void> {
  await tx.run(
    'DELETE FROM client_kept_usage WHERE email_key IN (SELECT email_key FROM clients WHERE id IN (:clientIds))',
    { clientIds },
  );
  if (!keep) return;
  await tx.run(
    `INSERT INTO client_kept_usage (email_key, inbound_id, up, down, last_online)
     SELECT c.email_key, u.inbound_id, u.up, u.down, coalesce(s.last_online, 0) FROM clients c JOIN client_usage u ON u.client_id = c.id LEFT JOIN client_seen s ON s.client_id = c.id WHERE c.id IN (:clientIds)`,
    { clientIds },
  );
}

/** What is kept, by key of the email. No two may hold it at once: whose email it is, is unique. */
export async function keptOf(
  db: Database,
  emailKeys: readonly string[],
): Promise<Map<string, Pick<ClientRow, 'up' | 'down' | 'lastOnline'>>> {
  const kept = new Map<string, Pick<ClientRow, 'up' | 'down' | 'lastOnline'>>();
  for (let from = 0; from < emailKeys.length; from += SLICE) {
    const rows = await db.query<{ email_key: string; up: number; down: number; last_online: number }>(
      'SELECT email_key, sum(up) AS up, sum(down) AS down, max(last_online) AS last_online FROM client_kept_usage WHERE email_key IN (:keys) GROUP BY email_key',
      { keys: emailKeys.slice(from, from + SLICE) },
    );
    for (const { email_key, up, down, last_online } of rows)
      kept.set(email_key, {
        up: Math.min(Number(up), Number.MAX_SAFE_INTEGER),
        down: Math.min(Number(down), Number.MAX_SAFE_INTEGER),
        lastOnline: Number(last_online),
      });
  }
  return kept;
}

/** Gives these new clients what was kept of their emails. */
export async function restoreKept(tx: Tx, clientIds: readonly number[]): Promise<void> {
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
  await tx.run(
    'DELETE FROM client_kept_usage WHERE email_key IN (SELECT email_key FROM clients WHERE id IN (:clientIds))',
    { clientIds },
  );
}

/** What these emails used through connections that outlived their client. */
export async function addKept(
  tx: Tx,
  usage: readonly (Omit<ClientUsage, 'clientId'> & { readonly email: string })[],
  at: number,
): Promise<void> {
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
