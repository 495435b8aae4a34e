// MySQL and MariaDB, selected by WEIR_DATABASE_URL.
import { randomUUID } from 'node:crypto';
import { ConnectionError, Sequelize } from 'sequelize';
import type { Connect } from '../../kernel/database/connect.js';
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { runQuery } from './query.js';
import { collationOf } from './version.js';
import { type Boot, lock, lockName, PULSE_MS } from './lock.js';
import { atTheDoor } from './members.js';
import { applyInSteps, hasRun } from './migration-steps.js';
import { classify } from './classify.js';
import { settleGalera } from './galera.js';
import { Presence } from './presence.js';
import { endWhenStalled, withoutLimit } from './stalled.js';
import { mysqlTypes, mysqlWords } from './dialect.js';

interface ConnectionManager {
  getConnection(options: { type: string; useMaster: boolean }): Promise<MysqlConnection>;
  releaseConnection(connection: MysqlConnection): void;
  destroyConnection(connection: MysqlConnection): Promise<void>;
  validate(connection: MysqlConnection): boolean;
}

/** For this long after a failure to connect, the next attempt fails with it. */
const REFUSED_MS = 1000;

/** Makes every connection behave as SQLite does: names in double quotes, || concatenates, too long a value is an error. */
async function settle(connection: MysqlConnection): Promise<void> {
  endWhenStalled(connection);
  const [about] = await runQuery(
    connection,
    'SELECT VERSION() AS version, DATABASE() AS name, @@collation_database AS collation',
  );
  const collation = collationOf(String(about?.['version']));
  await execute(connection, `SET NAMES utf8mb4 COLLATE ${collation}`);
  await execute(
    connection,
    "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', group_concat_max_len = 16000000, default_storage_engine = InnoDB",
  );
  if (about?.['collation'] !== collation)
    await execute(
      connection,
      `ALTER DATABASE "${String(about?.['name']).replaceAll('"', '""')}" CHARACTER SET utf8mb4 COLLATE ${collation}`,
    );
  await settleGalera(connection);
}

export const connect: Connect = async (url, dataDirectory, member) => {
  const [username, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
    decodeURIComponent,
  ) as [string, string, string];
  const sequelize = new Sequelize({
    dialect: 'mysql',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 3306),
    username,
    password,
    database,
    logging: false,
    pool: { max: 6, idle: 60_000 },
    // Numbers as in SQLite, and counts of matched rows, not only of changed ones.
    dialectOptions: {
      flags: [],
      typeCast: true,
      decimalNumbers: true,
      supportBigNumbers: false,
      charset: 'utf8mb4',
      connectTimeout: 5_000,
    },
  });
  sequelize.addHook('afterConnect', async (connection) => settle(connection as MysqlConnection));
  const connections = sequelize.connectionManager as unknown as ConnectionManager;
  const boot: Boot = { id: randomUUID(), folder: dataDirectory, member, known: false };
  const presence = new Presence(sequelize, boot.id, member);
  let held: MysqlConnection | undefined;
  let refused: { readonly error: unknown; readonly until: number } | undefined;
  const letGo = async () => {
    const broken = held;
    held = undefined;
    if (broken) await connections.destroyConnection(broken).catch(() => undefined);
  };
  const writer = async () => {
    if (held && connections.validate(held)) return held;
    await letGo();
    const opened = await connections.getConnection({ type: 'WRITE', useMaster: true });
    held = opened;
    try {
      await lock(opened, sequelize, boot);
      await presence.claim(opened);
    } catch (error) {
      await letGo();
      throw error;
    }
    return opened;
  };
  const pulse = setInterval(() => held && void execute(held, 'DO 1').catch(() => undefined), PULSE_MS);
  pulse.unref();
  const close = async () => {
    clearInterval(pulse);
    await presence.close(held);
    await letGo();
    await sequelize.close();
  };
  try {
    await writer();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    sequelize,
    sql: mysqlWords,
    types: mysqlTypes,
    classify,
    backUp: async (log) =>
      log.warn(
        "migrating without a backup of the database; make one with the server's own tools before each update",
      ),
    applyMigration: (plugin, name, statements, record) =>
      writer().then((connection) =>
        withoutLimit(connection, () => {
          const run = () => applyInSteps(sequelize, connection, { plugin, name, statements, record });
          if (member === undefined) return run();
          // The wider turn first: who has it goes on with the next migration, and nobody waits for it behind the door.
          return presence.exclusively(connection, () =>
            atTheDoor(connection, lockName(database), async () => {
              if (!(await hasRun(sequelize, plugin, name))) await run();
            }),
          );
        }),
      ),
    writer,
    begin: async () => {
      // Writes that wait behind one that found no server need not each wait for the same answer.
      if (refused && performance.now() < refused.until) throw refused.error;
      refused = undefined;
      // The server restarted or closed an idle connection; the pool may hold more dead connections that it does not know of.
      // Nothing was written yet, so nothing is done twice.
      for (let left = 6; ; left--) {
        try {
          const connection = await writer();
          await presence.confirm(connection);
          await execute(connection, 'START TRANSACTION');
          return connection;
        } catch (error) {
          await letGo();
          if (left > 0 && (error as { fatal?: boolean }).fatal === true) continue;
          if (error instanceof ConnectionError) refused = { error, until: performance.now() + REFUSED_MS };
          throw error;
        }
      }
    },
    close,
  };
};
