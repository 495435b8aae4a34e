// Looks at the database without touching it, beside a panel that runs as well as without one.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sqlite3 from 'sqlite3';

interface Ran {
  readonly plugin: string;
  readonly name: string;
}
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Which migrations have run; undefined where there is no database yet. */
export async function look(_url: URL, dataDirectory: string): Promise<readonly Ran[] | undefined> {
  const file = join(dataDirectory, 'weir.sqlite');
  if (!(await isThere(file))) return undefined;
  // Without its log nobody has it open: even a reader would make that log then, unless it is told that nothing changes.
  const immutable = !(await isThere(`${file}-wal`));
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(
      `${pathToFileURL(file).href}${immutable ? '?immutable=1' : ''}`,
      sqlite3.OPEN_READONLY | sqlite3.OPEN_URI,
      (error) => (error ? reject(error) : resolve(opened)),
    );
  });
  const ask = (sql: string): Promise<Ran[]> =>
    new Promise((resolve, reject) =>
      database.all(sql, (error: Error | null, rows: Ran[]) => (error ? reject(error) : resolve(rows))),
    );
  try {
    const ledger = await ask("SELECT name FROM sqlite_master WHERE name = 'kernel_migrations'");
    return ledger.length === 0 ? [] : await ask('SELECT plugin, name FROM kernel_migrations ORDER BY ran_at');
  } finally {
    await new Promise<void>((resolve) => database.close(() => resolve()));
  }
}
