// One panel per database. The server holds the lock on the connection that writes: a dead process loses it, and a panel
// whose connection broke cannot write until it holds the lock again.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Sequelize } from 'sequelize';
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { DatabaseTaken } from './database-taken.js';
import { atTheDoor, lockMember, requireNoMembers } from './members.js';
import { takeLock } from './named-lock.js';
import { runQuery, type Rows } from './query.js';

const HOLDER =
  'CREATE TABLE IF NOT EXISTS kernel_holder (id BIGINT PRIMARY KEY, boot VARCHAR(36) NOT NULL, process BIGINT NOT NULL, machine VARCHAR(255) NOT NULL, folder TEXT NOT NULL)';

/** One running panel. */
export interface Boot {
  readonly id: string;
  readonly folder: string;
  /** its name among several panels that use the database together */
  readonly member: string | undefined;
  /** whether it has held the lock before */
  known: boolean;
}

/** After so many seconds without a statement the server ends the connection, and with it the lock: it hears nothing of a machine that lost its power or its link, for hours. */
const SILENT_S = 30;
/** How often the panel that holds it has to say something. */
export const PULSE_MS = 10_000;

/** Name of the lock that the panel of this database holds. */
export const lockName = (database: string): string =>
  `weir-${createHash('sha256').update(database).digest('hex').slice(0, 32)}`;

/** Takes the lock on the connection for writing. Rejects with the panel that holds the database, or has held it meanwhile. */
export async function lock(connection: MysqlConnection, sequelize: Sequelize, boot: Boot): Promise<void> {
  const name = lockName(sequelize.getDatabaseName());
  await execute(connection, `SET SESSION wait_timeout = ${SILENT_S}`);
  if (boot.member !== undefined) return lockMember(connection, name, boot.member);
  await atTheDoor(connection, name, () => lockAlone(connection, sequelize, boot, name));
}

async function lockAlone(
  connection: MysqlConnection,
  sequelize: Sequelize,
  boot: Boot,
  name: string,
): Promise<void> {
  const got = await takeLock(connection, name);
  if (got) await execute(connection, HOLDER);
  const [holder] = await runQuery(connection, 'SELECT * FROM kernel_holder').catch((): Rows => []);
  const who = holder
    ? `process id ${String(holder['process'])} on ${String(holder['machine'])}, data folder ${String(holder['folder'])}`
    : 'process id unknown';
  if (!got)
    throw new DatabaseTaken(
      `another panel holds it (${who}); stop that one or give this one a database of its own (WEIR_DATABASE_URL)`,
    );
  await requireNoMembers(connection, name);
  // This panel's in-memory state may be stale.
  if (boot.known && holder?.['boot'] !== boot.id)
    throw new DatabaseTaken(
      `the connection to the database was lost and another panel has held the database meanwhile (${who}); restart this one`,
    );
  await execute(
    connection,
    `REPLACE INTO kernel_holder VALUES (1, '${boot.id}', ${process.pid}, ${sequelize.escape(hostname())}, ${sequelize.escape(boot.folder)})`,
  );
  boot.known = true;
}
