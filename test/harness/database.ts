// The database of a test's panel: a file in its data folder, or, in the second pass of `npm test`, one of its own on a MariaDB.
import { createHash } from 'node:crypto';

/** Address of the server, without a database; set by `npm test`. */
const SERVER = process.env['WEIR_TEST_DATABASE_SERVER'] || undefined;

/** For what only a file can show. */
export const onSqlite = SERVER === undefined;

const nameFor = (dataDirectory: string): string =>
  `weir_${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 24)}`;

async function onServer(...statements: readonly string[]): Promise<void> {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection(`${SERVER}/`);
  try {
    for (const statement of statements) await connection.query(statement);
  } finally {
    await connection.end();
  }
}

/** Where the panel of this folder has its database; made when it is not there. Undefined for the file. */
export async function databaseOf(dataDirectory: string): Promise<string | undefined> {
  if (onSqlite) return undefined;
  const name = nameFor(dataDirectory);
  await onServer(`CREATE DATABASE IF NOT EXISTS ${name}`);
  return `${SERVER}/${name}`;
}

/** The boot settings for it. */
export async function databaseEnvironment(dataDirectory: string): Promise<Record<string, string>> {
  const url = await databaseOf(dataDirectory);
  return url === undefined ? {} : { WEIR_DATABASE_URL: url };
}

/** Goes with the folder. */
export async function dropDatabase(dataDirectory: string): Promise<void> {
  if (!onSqlite) await onServer(`DROP DATABASE IF EXISTS ${nameFor(dataDirectory)}`);
}
