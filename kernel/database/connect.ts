// Opens the database: connections for reading, and one kept for the writer.
import { Sequelize } from 'sequelize';
import { join } from 'node:path';
import { messageOf } from '../errors/errors.js';
import { type ColumnTypes, sqliteTypes, sqliteWords, type SqlWords } from './dialect.js';

type Done = (error: Error | null) => void;
/** The drivers' handles, as far as we use them. */
interface SqliteConnection {
  exec(sql: string, done: Done): void;
  close(done: Done): void;
}
export interface MysqlConnection {
  query(sql: string, done: (error: Error | null, rows: readonly Record<string, unknown>[]) => void): void;
}
export type Connection = SqliteConnection | MysqlConnection;
interface ConnectionManager {
  getConnection(options: { uuid: string }): Promise<SqliteConnection>;
}

export interface Connections {
  readonly sequelize: Sequelize;
  readonly sql: SqlWords;
  readonly types: ColumnTypes;
  /** where there is one */
  readonly file: string | undefined;
  /** Where a transaction cannot hold a whole migration; `logged` enters it in the ledger. */
  applyMigration?(plugin: string, name: string, statements: readonly string[], logged: string): Promise<void>;
  /** The one connection that writes; of a server, opened anew where it broke. */
  writer(): Promise<Connection>;
  /** Begins a transaction on it. */
  begin(): Promise<Connection>;
  close(): Promise<void>;
}

/** What a driver, `drivers/<name>/index.ts`, exports as `connect`. It is loaded when the address asks for it. */
export type Connect = (url: URL, dataDirectory: string) => Promise<Connections>;

export const execute = (connection: Connection, sql: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const done: Done = (error) => (error ? reject(error) : resolve());
    if ('exec' in connection) connection.exec(sql, done);
    else connection.query(sql, done);
  });

// WAL: readers never wait for the writer. NORMAL: what is committed survives the end of the process, if not of the power.
const PRAGMAS = 'PRAGMA busy_timeout=10000; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000;';

async function connectSqlite(file: string): Promise<Connections> {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: file, logging: false });
  const connections = sequelize.connectionManager as unknown as ConnectionManager;
  const writer = await connections.getConnection({ uuid: 'writer' });
  const reader = await connections.getConnection({ uuid: 'default' });
  await execute(writer, PRAGMAS);
  await execute(reader, PRAGMAS);
  return {
    sequelize,
    sql: sqliteWords,
    types: sqliteTypes,
    file,
    writer: async () => writer,
    begin: async () => (await execute(writer, 'BEGIN IMMEDIATE'), writer),
    close: async () => {
      const closing = (c: SqliteConnection) => new Promise<void>((resolve) => c.close(() => resolve()));
      await closing(reader);
      await closing(writer);
    },
  };
}

const DRIVERS: Readonly<Record<string, string>> = { 'mysql:': 'mysql', 'mariadb:': 'mysql' };

/** The database at `address`, else the file in the data folder. Rejects with a sentence that says which one and why not, and never with the password. */
export async function connect(address: string | undefined, dataDirectory: string): Promise<Connections> {
  const url = address === undefined ? undefined : new URL(address);
  try {
    if (!url) return await connectSqlite(join(dataDirectory, 'weir.sqlite'));
    const driver = (await import(new URL(`../../drivers/${DRIVERS[url.protocol]}/index.js`, import.meta.url).href)) as { connect: Connect };
    return await driver.connect(url, dataDirectory);
  } catch (cause) {
    throw new Error(`the database ${url ? `${decodeURIComponent(url.pathname.slice(1))} on ${url.host}` : `in ${dataDirectory}`} cannot be opened: ${messageOf(cause)}`, { cause });
  }
}
