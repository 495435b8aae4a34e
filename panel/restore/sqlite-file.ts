// A SQLite file on a connection of its own, without the panel's settings.
import { pathToFileURL } from 'node:url';
import sqlite3 from 'sqlite3';

/** SQLite reads the whole schema of a file before anything of it can be checked. */
const MOST_MEMORY = 512 * 1024 * 1024;

export type Value = string | number | Buffer | null;
export type Row = Readonly<Record<string, Value>>;

export class SqliteFile {
  readonly #database: sqlite3.Database;

  private constructor(database: sqlite3.Database) {
    this.#database = database;
  }

  static #open(address: string, mode: number): Promise<SqliteFile> {
    return new Promise((resolve, reject) => {
      const opened: sqlite3.Database = new sqlite3.Database(address, mode, (error) =>
        error ? reject(error) : resolve(new SqliteFile(opened)),
      );
    });
  }

  static open(path: string): Promise<SqliteFile> {
    return SqliteFile.#open(path, sqlite3.OPEN_READWRITE);
  }

  /** For a file from elsewhere: nothing of it is executed, and no file is created beside it. */
  static async openForeign(path: string): Promise<SqliteFile> {
    const file = await SqliteFile.#open(
      `${pathToFileURL(path).href}?immutable=1`,
      sqlite3.OPEN_READONLY | sqlite3.OPEN_URI,
    );
    await file.execute(
      `PRAGMA hard_heap_limit=${MOST_MEMORY}; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA query_only=ON;`,
    );
    return file;
  }

  execute(sql: string): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#database.exec(sql, (error) => (error ? reject(error) : resolve())),
    );
  }

  run(sql: string, values: readonly Value[]): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#database.run(sql, values, (error: Error | null) => (error ? reject(error) : resolve())),
    );
  }

  rows<R = Row>(sql: string, values: readonly Value[] = []): Promise<R[]> {
    return new Promise((resolve, reject) =>
      this.#database.all(sql, values, (error: Error | null, rows: R[]) =>
        error ? reject(error) : resolve(rows),
      ),
    );
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#database.close(() => resolve()));
  }
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
