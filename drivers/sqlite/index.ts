// SQLite: a file in the data folder, and the default. One connection reads, and one is kept for the writer.
import { join } from 'node:path';
import { Sequelize } from 'sequelize';
import { type Connect, execute, type SqliteConnection } from '../../kernel/database/connect.js';
import { backUp } from './backup.js';
import { sqliteTypes, sqliteWords } from './dialect.js';

interface ConnectionManager {
  getConnection(options: { uuid: string }): Promise<SqliteConnection>;
}

// WAL: readers never wait for the writer. NORMAL: committed data survives a crash of the process, but not a power cut.
const PRAGMAS =
  'PRAGMA busy_timeout=10000; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000;';

export const connect: Connect = async (_url, dataDirectory) => {
  const file = join(dataDirectory, 'weir.sqlite');
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
    backUp: (log) => backUp(sequelize, writer, dataDirectory, log),
    writer: async () => writer,
    begin: async () => {
      await execute(writer, 'BEGIN IMMEDIATE');
      return writer;
    },
    close: async () => {
      const closing = (c: SqliteConnection) => new Promise<void>((resolve) => c.close(() => resolve()));
      await closing(reader);
      await closing(writer);
    },
  };
};
