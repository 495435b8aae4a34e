// Statements over many rows, one round trip each: through the ORM 10,000 counters take 3.4 s, here 40 ms.
import type { Tx } from '../../kernel/index.js';
import type { ClientUsage } from './contract.js';
import { type ClientFields, emailKey, vlessKey } from './row.js';

const MOST = Number.MAX_SAFE_INTEGER;

const COLUMNS: Readonly<Record<string, (client: ClientFields) => unknown>> = {
  email: (c) => c.email,
  email_key: (c) => emailKey(c.email),
  sub_id: (c) => c.subId,
  uuid: (c) => c.uuid,
  vless_key: (c) => vlessKey(c.uuid),
  password: (c) => c.password,
  flow: (c) => c.flow,
  enable: (c) => (c.enable ? 1 : 0),
  depleted_cause: (c) => c.depletedCause,
  total_gb: (c) => c.totalGB,
  expiry_time: (c) => c.expiryTime,
  limit_ip: (c) => c.limitIp,
  limit_hwid: (c) => c.limitHwid,
  tg_id: (c) => c.tgId,
  group_name: (c) => c.group,
  comment: (c) => c.comment,
  reset: (c) => c.reset,
  reset_day: (c) => c.resetDay,
  reset_max: (c) => c.resetMax,
  reset_count: (c) => c.resetCount,
  reverse: (c) => (c.reverse === null ? null : JSON.stringify(c.reverse)),
  created_at: (c) => c.createdAt,
  updated_at: (c) => c.updatedAt,
};
const NAMES = Object.keys(COLUMNS);
const INTEGERS = new Set([
  'enable',
  'total_gb',
  'expiry_time',
  'limit_ip',
  'limit_hwid',
  'tg_id',
  'reset',
  'reset_day',
  'reset_max',
  'reset_count',
  'created_at',
  'updated_at',
]);
const KINDS = Object.fromEntries(
  NAMES.map((name) => [name, INTEGERS.has(name) ? 'integer' : 'text'] as const),
);
const FIELD_COLUMNS: Readonly<Record<keyof ClientFields, readonly string[]>> = {
  email: ['email', 'email_key'],
  subId: ['sub_id'],
  uuid: ['uuid', 'vless_key'],
  password: ['password'],
  flow: ['flow'],
  enable: ['enable'],
  depletedCause: ['depleted_cause'],
  totalGB: ['total_gb'],
  expiryTime: ['expiry_time'],
  limitIp: ['limit_ip'],
  limitHwid: ['limit_hwid'],
  tgId: ['tg_id'],
  group: ['group_name'],
  comment: ['comment'],
  reset: ['reset'],
  resetDay: ['reset_day'],
  resetMax: ['reset_max'],
  resetCount: ['reset_count'],
  reverse: ['reverse'],
  createdAt: ['created_at'],
  updatedAt: ['updated_at'],
};

// A list of texts: on SQLite one JSON text, which it reads fastest; MySQL uses the index only for texts that stand in the statement.
const among = ({ sql }: Tx, column: string): string =>
  sql.dialect === 'sqlite' ? `${column} IN (SELECT value FROM json_each(:keys))` : `${column} IN (:keys)`;
const keysFor = ({ sql }: Tx, keys: readonly string[]): unknown =>
  sql.dialect === 'sqlite' ? JSON.stringify(keys) : keys;

interface Insertion {
  readonly fields: ClientFields;
  readonly inboundIds: readonly number[];
}
/** Rows of one statement: a text of 10,000 keeps the event loop for 100 ms. */
const PORTION = 1000;

/** Inserts clients and their attachments; returns their ids in the order given. */
export async function insertClients(tx: Tx, clients: readonly Insertion[]): Promise<number[]> {
  const ids: number[] = [];
  for (let from = 0; from < clients.length; from += PORTION)
    ids.push(...(await insertPortion(tx, clients.slice(from, from + PORTION))));
  return ids;
}

async function insertPortion(tx: Tx, clients: readonly Insertion[]): Promise<number[]> {
  const rows = JSON.stringify(clients.map(({ fields }) => NAMES.map((name) => COLUMNS[name]?.(fields))));
  await tx.run(
    `INSERT INTO clients (${NAMES.join(', ')}) SELECT ${NAMES.join(', ')} FROM ${tx.sql.rows(KINDS)} AS j`,
    { rows },
  );
  const found = await tx.query<{ id: number; email_key: string }>(
    `SELECT id, email_key FROM clients WHERE ${among(tx, 'email_key')}`,
    {
      keys: keysFor(
        tx,
        clients.map(({ fields }) => emailKey(fields.email)),
      ),
    },
  );
  const idOf = new Map(found.map(({ id, email_key }) => [email_key, id]));
  const ids = clients.map(({ fields }) => idOf.get(emailKey(fields.email)) as number);
  const attachments = JSON.stringify(
    clients.flatMap(({ inboundIds }, i) => inboundIds.map((inboundId) => [ids[i], inboundId])),
  );
  await tx.run(
    `INSERT INTO client_inbounds (client_id, inbound_id) SELECT client_id, inbound_id FROM ${tx.sql.rows({ client_id: 'integer', inbound_id: 'integer' })} AS j`,
    { rows: attachments },
  );
  return ids;
}

/** Writes only the columns of these fields, so that two edits of different fields do not undo each other. Answers whether the client is there. */
export async function updateClient(tx: Tx, id: number, fields: Partial<ClientFields>): Promise<boolean> {
  const names = (Object.keys(fields) as (keyof ClientFields)[]).flatMap((field) => FIELD_COLUMNS[field]);
  const values = Object.fromEntries(names.map((name) => [name, COLUMNS[name]?.(fields as ClientFields)]));
  return (
    (await tx.change(
      `UPDATE clients SET ${names.map((name) => `${name} = :${name}`).join(', ')} WHERE id = :id`,
      { ...values, id },
    )) > 0
  );
}

/** The same values for many clients; those that are gone are passed over. */
export async function updateClients(
  tx: Tx,
  ids: readonly number[],
  fields: Partial<ClientFields>,
): Promise<void> {
  const names = (Object.keys(fields) as (keyof ClientFields)[]).flatMap((field) => FIELD_COLUMNS[field]);
  const values = Object.fromEntries(names.map((name) => [name, COLUMNS[name]?.(fields as ClientFields)]));
  await tx.run(
    `UPDATE clients SET ${names.map((name) => `${name} = :${name}`).join(', ')} WHERE id IN (:ids)`,
    { ...values, ids },
  );
}

/** Those that are attached already, and those that are gone, are passed over. */
export async function attachClients(tx: Tx, inboundId: number, ids: readonly number[]): Promise<void> {
  await tx.run(
    `INSERT INTO client_inbounds (client_id, inbound_id) SELECT c.id, :inboundId FROM clients c
     WHERE c.id IN (:ids) AND NOT EXISTS (SELECT 1 FROM client_inbounds a WHERE a.client_id = c.id AND a.inbound_id = :inboundId)`,
    { inboundId, ids },
  );
}
export async function detachClients(tx: Tx, inboundId: number, ids: readonly number[]): Promise<void> {
  await tx.run('DELETE FROM client_inbounds WHERE inbound_id = :inboundId AND client_id IN (:ids)', {
    inboundId,
    ids,
  });
}

/** Totals begin anew at these bytes, the same for all of them; which inbound they came through is forgotten. */
export async function setUsage(
  tx: Tx,
  ids: readonly number[],
  { up, down }: { readonly up: number; readonly down: number },
): Promise<void> {
  await tx.run('DELETE FROM client_usage WHERE client_id IN (:ids)', { ids });
  if (up + down > 0)
    await tx.run(
      'INSERT INTO client_usage (client_id, inbound_id, up, down) SELECT id, 0, :up, :down FROM clients WHERE id IN (:ids)',
      { ids, up, down },
    );
}

/** What belongs to the clients goes with them. Answers which of them were there. */
export async function deleteClients(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  const found = await tx.query<{ id: number }>('SELECT id FROM clients WHERE id IN (:ids)', { ids });
  await tx.run('DELETE FROM clients WHERE id IN (:ids)', { ids });
  return new Set(found.map(({ id }) => id));
}

/** A row is made by the first bytes. What belongs to a client that is gone is passed over. */
export async function addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void> {
  const { rows, incoming, least, greatest, onConflict } = tx.sql;
  const table = `${rows({ client_id: 'integer', inbound_id: 'integer', up: 'integer', down: 'integer' })} AS j JOIN clients ON clients.id = j.client_id WHERE true`;
  const values = JSON.stringify(
    usage.map(({ clientId, inboundId, up, down }) => [clientId, inboundId, up, down]),
  );
  const sum = (column: string) =>
    `${column} = ${least}(client_usage.${column} + ${incoming(column)}, ${MOST})`;
  await tx.run(
    `INSERT INTO client_usage (client_id, inbound_id, up, down) SELECT j.client_id, j.inbound_id, j.up, j.down FROM ${table} ${onConflict('client_id, inbound_id', `${sum('up')}, ${sum('down')}`)}`,
    { rows: values },
  );
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch) SELECT DISTINCT j.client_id, :at, 0 FROM ${table} ${onConflict('client_id', `last_online = ${greatest}(client_seen.last_online, ${incoming('last_online')})`)}`,
    { rows: values, at },
  );
}

export async function saveFetches(
  tx: Tx,
  fetches: readonly (readonly [clientId: number, at: number])[],
): Promise<void> {
  const { rows, incoming, greatest, onConflict } = tx.sql;
  await tx.run(
    `INSERT INTO client_seen (client_id, last_online, last_sub_fetch)
     SELECT j.client_id, 0, j.fetched FROM ${rows({ client_id: 'integer', fetched: 'integer' })} AS j JOIN clients ON clients.id = j.client_id WHERE true
     ${onConflict('client_id', `last_sub_fetch = ${greatest}(client_seen.last_sub_fetch, ${incoming('last_sub_fetch')})`)}`,
    { rows: JSON.stringify(fetches) },
  );
}
