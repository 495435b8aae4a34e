// Several panels on one database (WEIR_CLUSTER): each holds a lock of its own name, and none shares the database with a
// panel that believes to be alone. The locks end with their connections, so a dead process holds none.
import { execute, type MysqlConnection } from '../../tables/connection.js';
import { DatabaseTaken } from './database-taken.js';
import { isFree, takeLock } from './named-lock.js';
import { runQuery, type Rows } from './query.js';

/** Two panels that start at once look for each other one after the other. */
const DOOR_WAIT_S = 10;
const MEMBERS = 'CREATE TABLE IF NOT EXISTS kernel_members (name VARCHAR(32) NOT NULL PRIMARY KEY)';

/** Of one panel among several; the name of the database's lock has 37 characters, and the server takes 64. */
const memberLock = (lock: string, member: string): string => `${lock.slice(0, 29)}-${member}`;

/** Runs `work` while no other panel looks who uses the database. */
export async function atTheDoor<T>(
  connection: MysqlConnection,
  lock: string,
  work: () => Promise<T>,
): Promise<T> {
  const door = `${lock}-door`;
  if (!(await takeLock(connection, door, DOOR_WAIT_S)))
    throw new DatabaseTaken('another panel that starts on this database does not get on; try again');
  try {
    return await work();
  } finally {
    await runQuery(connection, `SELECT RELEASE_LOCK('${door}')`).catch(() => undefined);
  }
}

/** Rejects while one of several panels uses the database; for one that must be alone. */
export async function requireNoMembers(connection: MysqlConnection, lock: string): Promise<void> {
  const members = await runQuery(connection, 'SELECT name FROM kernel_members').catch((): Rows => []);
  for (const { name } of members)
    if (!(await isFree(connection, memberLock(lock, String(name)))))
      throw new DatabaseTaken(
        `the panel ${String(name)} uses it, one of several (WEIR_CLUSTER); stop these, or give this one a name too`,
      );
}

/** Takes the lock of one panel among several. */
export async function lockMember(connection: MysqlConnection, lock: string, member: string): Promise<void> {
  // A panel that is stopped in the middle of a write must not hold up the others; MySQL has no such limit.
  await execute(connection, 'SET SESSION idle_transaction_timeout = 15').catch(() => undefined);
  await execute(connection, 'SET SESSION innodb_lock_wait_timeout = 20');
  await atTheDoor(connection, lock, async () => {
    if (!(await isFree(connection, lock)))
      throw new DatabaseTaken(
        'a panel without WEIR_CLUSTER uses it; stop that one, and start it again with a name of its own',
      );
    if (!(await takeLock(connection, memberLock(lock, member))))
      throw new DatabaseTaken(
        `another process has the name ${member} (WEIR_CLUSTER); give each panel a name of its own`,
      );
    await execute(connection, MEMBERS);
    await execute(connection, `INSERT IGNORE INTO kernel_members VALUES ('${member}')`);
  });
}
