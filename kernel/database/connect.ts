// Opens the database: one connection for reading, one kept for the writer.
import { Sequelize } from 'sequelize';
import { join } from 'node:path';

/** The driver's handle, as far as we use it. */
export interface Connection {
  exec(sql: string, done: (error: Error | null) => void): void;
  close(done: (error: Error | null) => void): void;
}
interface ConnectionManager {
  getConnection(options: { uuid: string }): Promise<Connection>;
}

export const DATABASE_FILE = 'weir.sqlite';

export interface Connections {
  readonly sequelize: Sequelize;
  readonly file: string;
  readonly writer: Connection;
  close(): Promise<void>;
}

export const execute = (connection: Connection, sql: string): Promise<void> => new Promise((resolve, reject) => connection.exec(sql, (error) => (error ? reject(error) : resolve())));

// WAL: readers never wait for the writer. NORMAL: what is committed survives the end of the process, if not of the power.
const PRAGMAS = 'PRAGMA busy_timeout=10000; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000;';

export async function connectSqlite(dataDirectory: string): Promise<Connections> {
  const file = join(dataDirectory, DATABASE_FILE);
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: file, logging: false });
  const connections = sequelize.connectionManager as unknown as ConnectionManager;
  const writer = await connections.getConnection({ uuid: 'writer' });
  const reader = await connections.getConnection({ uuid: 'default' });
  await execute(writer, PRAGMAS);
  await execute(reader, PRAGMAS);
  return {
    sequelize,
    file,
    writer,
    close: async () => {
      const closing = (c: Connection) => new Promise<void>((resolve) => c.close(() => resolve()));
      await closing(reader);
      await closing(writer);
    },
  };
}
