// Inspects the database without changing it, whether a panel runs or not.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sqlite3 from 'sqlite3';
import { withWayOut } from './damaged.js';

interface AppliedMigration {
  readonly plugin: string;
  readonly name: string;
}
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Reads which migrations have run; undefined where there is no database yet. */
export async function appliedMigrations(
  _url: URL,
  dataDirectory: string,
): Promise<readonly AppliedMigration[] | undefined> {
  const file = join(dataDirectory, 'weir.sqlite');
  if (!(await isThere(file))) return undefined;
  // Without a WAL file no process has the database open. A reader would create that file unless it is told that nothing changes.
  const immutable = !(await isThere(`${file}-wal`));
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(
      `${pathToFileURL(file).href}${immutable ? '?immutable=1' : ''}`,
      sqlite3.OPEN_READONLY | sqlite3.OPEN_URI,
      (error) => (error ? reject(error) : resolve(opened)),
    );
  });
  const query = (sql: string): Promise<AppliedMigration[]> =>
    new Promise((resolve, reject) =>
      database.all(sql, (error: Error | null, rows: AppliedMigration[]) =>
        error ? reject(error) : resolve(rows),
      ),
    );
  try {
    const ledger = await query("SELECT name FROM sqlite_master WHERE name = 'kernel_migrations'");
    return ledger.length === 0
      ? []
      : await query('SELECT plugin, name FROM kernel_migrations ORDER BY ran_at');
  } catch (error) {
    throw withWayOut(error);
  } finally {
    await new Promise<void>((resolve) => database.close(() => resolve()));
  }
}
