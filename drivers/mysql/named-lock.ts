// Locks by name: the server holds one for a connection until it ends, so a dead process holds none.
import type { MysqlConnection } from '../../tables/connection.js';
import { runQuery } from './query.js';

/** A server needs a moment to notice that a panel has died. */
const WAIT_S = 3;

/** Resolves with whether the connection holds the lock. */
export async function takeLock(
  connection: MysqlConnection,
  lock: string,
  waitS: number = WAIT_S,
): Promise<boolean> {
  const [answer] = await runQuery(connection, `SELECT GET_LOCK('${lock}', ${waitS}) AS got`);
  return answer?.['got'] === 1;
}

export async function isFree(connection: MysqlConnection, lock: string): Promise<boolean> {
  const [answer] = await runQuery(connection, `SELECT IS_FREE_LOCK('${lock}') AS free`);
  return answer?.['free'] === 1;
}
