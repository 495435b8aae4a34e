// Opens the database through a driver: connections for reading, and one for the writer.
import type { Sequelize } from 'sequelize';
import { messageOf } from '../errors/errors.js';
import type { Log } from '../log/log.js';
import type { Connection } from '../../tables/connection.js';
import type { ColumnTypes, SqlWords } from '../../tables/dialect.js';
import type { Classify } from './storage.js';

export interface Connections {
  readonly sequelize: Sequelize;
  readonly sql: SqlWords;
  readonly types: ColumnTypes;
  readonly classify: Classify;
  /** Called before the first migration of a database with content. */
  backUp(log: Log): Promise<void>;
  /** Runs a migration; `record` adds it to the migration history. */
  applyMigration(plugin: string, name: string, statements: readonly string[], record: string): Promise<void>;
  /** The one connection that writes; reopened where a server closed it. */
  writer(): Promise<Connection>;
  /** Begins a transaction on it. */
  begin(): Promise<Connection>;
  close(): Promise<void>;
}

/** The export `connect` of a driver, `drivers/<name>/index.ts`. Loaded only when the address needs it. `member` is the name of one of several panels that use the database together. */
export type Connect = (url: URL, dataDirectory: string, member?: string) => Promise<Connections>;

const DRIVERS: Readonly<Record<string, string>> = {
  'sqlite:': 'sqlite',
  'mysql:': 'mysql',
  'mariadb:': 'mysql',
};

/** Opens the database at `address`, else the file in the data folder. Rejects with a sentence that names the database and the cause, never with the password. */
export async function connect(
  address: string | undefined,
  dataDirectory: string,
  member?: string,
): Promise<Connections> {
  const url = new URL(address ?? 'sqlite:');
  try {
    const driver = (await import(
      new URL(`../../drivers/${DRIVERS[url.protocol]}/index.js`, import.meta.url).href
    )) as { connect: Connect };
    return await driver.connect(url, dataDirectory, member);
  } catch (cause) {
    throw new Error(
      `the database ${address ? `${decodeURIComponent(url.pathname.slice(1))} on ${url.host}` : `in ${dataDirectory}`} cannot be opened: ${messageOf(cause)}`,
      { cause },
    );
  }
}
