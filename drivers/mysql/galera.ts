// MariaDB Galera: several servers that each take writes, and agree at the commit.
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { runQuery } from './query.js';

/** Whether this connection's server is one of several. MySQL and a MariaDB alone say no. */
export async function isGalera(connection: MysqlConnection): Promise<boolean> {
  const [found] = await runQuery(connection, "SHOW SESSION VARIABLES LIKE 'wsrep_on'");
  return found?.['Value'] === 'ON';
}

/** Reads and the begin of a transaction wait for what other servers have acknowledged, so no server answers from the past. */
export async function settleGalera(connection: MysqlConnection): Promise<void> {
  if (await isGalera(connection)) await execute(connection, 'SET SESSION wsrep_sync_wait = 1');
}
