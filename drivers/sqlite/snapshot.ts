// Copies the database to a new SQLite file, while the panel reads and writes.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';

/** Writes one committed state to `path`, which must not exist. Neither readers nor the writer wait. */
export async function snapshot(_url: URL, dataDirectory: string, path: string): Promise<void> {
  // VACUUM INTO fills an empty file, which is private from its first byte.
  const target = await open(path, 'wx', 0o600);
  try {
    await vacuumInto(join(dataDirectory, 'weir.sqlite'), path);
    await target.sync();
  } finally {
    await target.close();
  }
}

async function vacuumInto(source: string, path: string): Promise<void> {
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(source, sqlite3.OPEN_READONLY, (error) =>
      error ? reject(error) : resolve(opened),
    );
  });
  try {
    database.configure('busyTimeout', 10_000);
    await new Promise<void>((resolve, reject) =>
      database.run('VACUUM INTO ?', path, (error: Error | null) => (error ? reject(error) : resolve())),
    );
  } finally {
    await new Promise<void>((resolve) => database.close(() => resolve()));
  }
}
