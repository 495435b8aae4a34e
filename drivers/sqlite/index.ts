// SQLite: a file in the data folder, and the default. One connection reads, and one is kept for the writer.
import { join } from 'node:path';
import { Sequelize } from 'sequelize';
import type { Connect } from '../../kernel/database/connect.js';
import { execute, type SqliteConnection } from '../../tables/connection.js';
import { applyAsOne } from './apply-as-one.js';
import { backUp } from './backup.js';
import { classify } from './classify.js';
import { withWayOut } from './damaged.js';
import { sqliteTypes, sqliteWords } from './dialect.js';
import { acceptNul } from './nul.js';

interface ConnectionManager {
  getConnection(options: { uuid: string }): Promise<SqliteConnection>;
}

// WAL: readers never wait for the writer. NORMAL: committed data survives a crash of the process, but not a power cut.
const PRAGMAS =
  'PRAGMA busy_timeout=10000; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;';
/** KiB of pages. The writer changes thousands of them in one write; the reader answers little, as lists are in memory. */
const CACHE = { writer: 16_000, reader: 2_000 };

export const connect: Connect = async (_url, dataDirectory, member) => {
  if (member !== undefined)
    throw new Error(
      `SQLite has one panel, and WEIR_CLUSTER names one of several (${member}); give them a database on MySQL or MariaDB (WEIR_DATABASE_URL), or unset WEIR_CLUSTER`,
    );
  const file = join(dataDirectory, 'weir.sqlite');
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: file, logging: false });
  const connections = sequelize.connectionManager as unknown as ConnectionManager;
  const writer = await connections.getConnection({ uuid: 'writer' });
  const reader = await connections.getConnection({ uuid: 'default' });
  for (const connection of [writer, reader]) acceptNul(connection);
  try {
    await execute(writer, `${PRAGMAS} PRAGMA cache_size=-${CACHE.writer};`);
    await execute(reader, `${PRAGMAS} PRAGMA cache_size=-${CACHE.reader};`);
  } catch (error) {
    throw withWayOut(error);
  }
  return {
    sequelize,
    sql: sqliteWords,
    types: sqliteTypes,
    classify,
    backUp: (log) => backUp(sequelize, writer, dataDirectory, log),
    applyMigration: (plugin, name, statements, record) =>
      applyAsOne(writer, `${name} of plugin ${plugin}`, [...statements, record]),
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
