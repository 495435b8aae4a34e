// MySQL and MariaDB. The connection that writes holds a named lock of the server as well: one panel a database, and a
// panel whose connection broke cannot write before it holds the lock again. A process that died cannot keep it.
import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Sequelize } from 'sequelize';
import { type Connections, execute, type MysqlConnection } from './connect.js';

/** A server takes a moment to see that a panel has died. */
const LOCK_WAIT_S = 3;
/** JSON_TABLE and collations that compare as SQLite does, trailing spaces included. */
const OLDEST = { MariaDB: [10, 6, 0], MySQL: [8, 0, 19] } as const;
const HOLDER = 'CREATE TABLE IF NOT EXISTS kernel_holder (id BIGINT PRIMARY KEY, boot VARCHAR(36) NOT NULL, process BIGINT NOT NULL, machine VARCHAR(255) NOT NULL, folder TEXT NOT NULL)';

interface ConnectionManager {
  getConnection(options: { type: string; useMaster: boolean }): Promise<MysqlConnection>;
  releaseConnection(connection: MysqlConnection): void;
  destroyConnection(connection: MysqlConnection): Promise<void>;
  validate(connection: MysqlConnection): boolean;
}
type Rows = readonly Record<string, unknown>[];

const ask = (connection: MysqlConnection, sql: string): Promise<Rows> => new Promise((resolve, reject) => connection.query(sql, (error, rows) => (error ? reject(error) : resolve(rows))));

/** The collation of exact comparison, which the two call differently. */
function collationOf(version: string): string {
  const product = version.includes('MariaDB') ? 'MariaDB' : 'MySQL';
  const parts = version.split(/[.-]/, 3).map(Number);
  const differing = OLDEST[product].findIndex((part, i) => part !== parts[i]);
  if (differing >= 0 && (parts[differing] ?? 0) < (OLDEST[product][differing] ?? 0)) throw new Error(`it is ${product} ${version}; Weir needs ${product} ${OLDEST[product].join('.')} or newer`);
  return product === 'MariaDB' ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}

/** Every connection speaks as SQLite does: names in double quotes, texts joined by ||, too long is an error. */
async function settle(connection: MysqlConnection): Promise<void> {
  const [about] = await ask(connection, 'SELECT VERSION() AS version, DATABASE() AS name, @@collation_database AS collation');
  const collation = collationOf(String(about?.['version']));
  await execute(connection, `SET NAMES utf8mb4 COLLATE ${collation}`);
  await execute(connection, "SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', group_concat_max_len = 16000000, default_storage_engine = InnoDB");
  if (about?.['collation'] !== collation) await execute(connection, `ALTER DATABASE "${String(about?.['name']).replaceAll('"', '""')}" CHARACTER SET utf8mb4 COLLATE ${collation}`);
}

/** One panel at work. */
interface Boot {
  readonly id: string;
  readonly folder: string;
  /** it has held the lock before */
  known: boolean;
}

/** Of the connection that the panel shall write through. Rejects with who else holds the database, or has held it meanwhile. */
async function lock(connection: MysqlConnection, sequelize: Sequelize, boot: Boot): Promise<void> {
  const name = `weir-${createHash('sha256').update(sequelize.getDatabaseName()).digest('hex').slice(0, 32)}`;
  const [answer] = await ask(connection, `SELECT GET_LOCK('${name}', ${LOCK_WAIT_S}) AS got`);
  const got = answer?.['got'] === 1;
  if (got) await execute(connection, HOLDER);
  const [holder] = await ask(connection, 'SELECT * FROM kernel_holder').catch((): Rows => []);
  const who = holder ? `process id ${String(holder['process'])} on ${String(holder['machine'])}, data folder ${String(holder['folder'])}` : 'process id unknown';
  if (!got) throw new Error(`another panel holds it (${who}); stop that one or give this one a database of its own (WEIR_DATABASE_URL)`);
  // What this panel has in memory would not be what is written there.
  if (boot.known && holder?.['boot'] !== boot.id) throw new Error(`the connection to the database was lost and another panel has held the database meanwhile (${who}); start this one anew`);
  await execute(connection, `REPLACE INTO kernel_holder VALUES (1, '${boot.id}', ${process.pid}, ${sequelize.escape(hostname())}, ${sequelize.escape(boot.folder)})`);
  boot.known = true;
}

export async function connectMysql(address: string, dataDirectory: string): Promise<Connections> {
  const url = new URL(address);
  const [username, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent) as [string, string, string];
  const sequelize = new Sequelize({
    dialect: 'mysql', host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 3306), username, password, database, logging: false,
    pool: { max: 6, idle: 60_000 },
    // Numbers as SQLite gives them, and rows that a statement matched, not only those that it changed.
    dialectOptions: { flags: [], typeCast: true, decimalNumbers: true, supportBigNumbers: false, charset: 'utf8mb4', connectTimeout: 10_000 },
  });
  sequelize.addHook('afterConnect', async (connection) => settle(connection as MysqlConnection));
  const connections = sequelize.connectionManager as unknown as ConnectionManager;
  const boot: Boot = { id: randomUUID(), folder: dataDirectory, known: false };
  let held: MysqlConnection | undefined;
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
    await lock(opened, sequelize, boot).catch(async (error: unknown) => (await letGo(), Promise.reject(error)));
    return opened;
  };
  const close = async () => {
    await letGo();
    await sequelize.close();
  };
  await writer().catch(async (error: unknown) => (await close(), Promise.reject(error)));
  return {
    sequelize,
    dialect: 'mysql',
    file: undefined,
    writer,
    begin: async () => {
      const connection = await writer();
      const begun = await execute(connection, 'START TRANSACTION').then(() => true, () => false);
      if (begun) return connection;
      // A server that was started anew, or had enough of waiting. Nothing was written yet, so nothing is done twice.
      await letGo();
      const again = await writer();
      await execute(again, 'START TRANSACTION');
      return again;
    },
    close,
  };
}
