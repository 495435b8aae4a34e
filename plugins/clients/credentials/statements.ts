// Statements of the tables of credentials. A credential hangs on its attachment, and its keys hang on it: the database
// deletes them together.
import type { Database, Tx } from '../../../kernel/index.js';
import type { Credential } from '../../inbounds/contract.js';

const BATCH_SIZE = 1000;
const VALUES = { client_id: 'integer', inbound_id: 'integer', value: 'text' } as const;
const KEYS = { inbound_id: 'integer', cred_key: 'text', client_id: 'integer' } as const;

export interface NewCredential {
  readonly clientId: number;
  readonly inboundId: number;
  readonly value: Credential;
  readonly keys: readonly string[];
}
export interface OwnedKey {
  readonly inboundId: number;
  readonly clientId: number;
  readonly key: string;
}

async function insertRows(
  tx: Tx,
  table: string,
  columns: typeof VALUES | typeof KEYS,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const names = Object.keys(columns).join(', ');
  for (let from = 0; from < rows.length; from += BATCH_SIZE)
    await tx.run(`INSERT INTO ${table} (${names}) SELECT ${names} FROM ${tx.sql.rows(columns)} AS j`, {
      rows: JSON.stringify(rows.slice(from, from + BATCH_SIZE)),
    });
}

const insertKeys = (tx: Tx, credentials: readonly NewCredential[]): Promise<void> =>
  insertRows(
    tx,
    'client_credential_keys',
    KEYS,
    credentials.flatMap(({ clientId, inboundId, keys }) => keys.map((key) => [inboundId, key, clientId])),
  );

/** The attachments must be there. */
export async function insertCredentials(tx: Tx, credentials: readonly NewCredential[]): Promise<void> {
  await insertRows(
    tx,
    'client_credentials',
    VALUES,
    credentials.map(({ clientId, inboundId, value }) => [clientId, inboundId, JSON.stringify(value)]),
  );
  await insertKeys(tx, credentials);
}

export async function replaceCredential(tx: Tx, credential: NewCredential): Promise<void> {
  const { clientId, inboundId, value } = credential;
  const at = 'client_id = :clientId AND inbound_id = :inboundId';
  await tx.run(`DELETE FROM client_credential_keys WHERE ${at}`, { clientId, inboundId });
  await tx.run(`UPDATE client_credentials SET value = :value WHERE ${at}`, {
    clientId,
    inboundId,
    value: JSON.stringify(value),
  });
  await insertKeys(tx, [credential]);
}

export async function deleteCredentialsOf(tx: Tx, inboundId: number): Promise<void> {
  await tx.run('DELETE FROM client_credential_keys WHERE inbound_id = :inboundId', { inboundId });
  await tx.run('DELETE FROM client_credentials WHERE inbound_id = :inboundId', { inboundId });
}

export async function credentialsOf(
  tx: Tx,
  clientId: number,
  inboundIds: readonly number[],
): Promise<Map<number, Credential>> {
  if (inboundIds.length === 0) return new Map();
  const rows = await tx.query<{ inboundId: number; value: string }>(
    'SELECT inbound_id AS "inboundId", value FROM client_credentials WHERE client_id = :clientId AND inbound_id IN (:inboundIds)',
    { clientId, inboundIds },
  );
  return new Map(rows.map(({ inboundId, value }) => [inboundId, JSON.parse(value) as Credential]));
}

/** Those of these clients that are attached and have no credential there yet; without `ids` of all clients. */
export async function attachedWithout(tx: Tx, inboundId: number, ids?: readonly number[]): Promise<number[]> {
  if (ids?.length === 0) return [];
  const rows = await tx.query<{ id: number }>(
    `SELECT a.client_id AS id FROM client_inbounds a
     WHERE a.inbound_id = :inboundId ${ids ? 'AND a.client_id IN (:ids)' : ''} AND NOT EXISTS
       (SELECT 1 FROM client_credentials c WHERE c.client_id = a.client_id AND c.inbound_id = a.inbound_id)
     ORDER BY a.client_id`,
    { inboundId, ids: ids ?? [] },
  );
  return rows.map(({ id }) => id);
}

const SELECT_KEYS =
  'SELECT inbound_id AS "inboundId", client_id AS "clientId", cred_key AS "key" FROM client_credential_keys';
export const keysOfInbound = (tx: Tx, inboundId: number): Promise<OwnedKey[]> =>
  tx.query<OwnedKey>(`${SELECT_KEYS} WHERE inbound_id = :inboundId ORDER BY client_id`, { inboundId });
export const keysOfClients = (tx: Tx, ids: readonly number[], inboundId?: number): Promise<OwnedKey[]> =>
  tx.query<OwnedKey>(
    `${SELECT_KEYS} WHERE client_id IN (:ids)${inboundId === undefined ? '' : ' AND inbound_id = :inboundId'}`,
    { ids, inboundId: inboundId ?? 0 },
  );

/** Calls `take` with every credential of the clients with ids in this range. */
export async function eachCredential(
  db: Pick<Database, 'query'>,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  take: (clientId: number, inboundId: number, credential: Credential) => void,
): Promise<void> {
  const rows = await db.query<{ clientId: number; inboundId: number; value: string }>(
    `SELECT client_id AS "clientId", inbound_id AS "inboundId", value FROM client_credentials
     WHERE client_id > :after AND client_id <= :upTo ORDER BY client_id, inbound_id`,
    { after, upTo },
  );
  for (const { clientId, inboundId, value } of rows)
    take(clientId, inboundId, JSON.parse(value) as Credential);
}
