// A SQLite file from elsewhere: nothing of it is executed.
import { access } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import sqlite3 from 'sqlite3';

const MOST_MEMORY = 512 * 1024 * 1024;

export class SqliteFile {
  readonly #database: sqlite3.Database;

  private constructor(database: sqlite3.Database) {
    this.#database = database;
  }

  /** The copy is ours: a write-ahead log beside it is brought in. */
  static async open(path: string): Promise<SqliteFile> {
    const hasLog = await access(`${path}-wal`).then(
      () => true,
      () => false,
    );
    const [address, mode] = hasLog
      ? [path, sqlite3.OPEN_READWRITE]
      : [`${pathToFileURL(path).href}?immutable=1`, sqlite3.OPEN_READONLY | sqlite3.OPEN_URI];
    const file = await new Promise<SqliteFile>((resolve, reject) => {
      const opened: sqlite3.Database = new sqlite3.Database(address, mode, (error) =>
        error ? reject(error) : resolve(new SqliteFile(opened)),
      );
    });
    await file.execute(
      `PRAGMA hard_heap_limit=${MOST_MEMORY}; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA temp_store=FILE; PRAGMA cache_size=-32000;`,
    );
    return file;
  }

  execute(sql: string): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#database.exec(sql, (error) => (error ? reject(error) : resolve())),
    );
  }

  rows<R>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return new Promise((resolve, reject) =>
      this.#database.all(sql, values, (error: Error | null, rows: R[]) =>
        error ? reject(error) : resolve(rows),
      ),
    );
  }
}
