// One panel per data folder: two would count the core's traffic twice. The operating system holds the lock on a small
// SQLite file, so a dead process loses it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { replaceFile } from './replace.js';

/** Also marks a folder as a data folder, whatever database its panel uses. */
export const LOCK_FILE = 'panel.lock';

export interface FolderLock {
  release(): Promise<void>;
}

/** Another process holds the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

interface Log {
  warn(text: string, fields: object): void;
}

/** Rejects with a sentence that names the process which holds the folder. */
export async function lockFolder(directory: string, log?: Log): Promise<FolderLock> {
  const holder = join(directory, 'panel.pid');
  const database = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(join(directory, LOCK_FILE), (error) =>
      error ? reject(error) : resolve(opened),
    );
  });
  const release = () => new Promise<void>((resolve) => database.close(() => resolve()));
  try {
    await new Promise<void>((resolve, reject) => {
      database.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE', (error) =>
        error ? reject(error) : resolve(),
      );
    });
  } catch (cause) {
    await release();
    const pid = await readFile(holder, 'utf8').catch(() => 'unknown');
    throw new FolderInUse(
      `the data folder ${directory} is in use by the panel with process id ${pid.trim()}; stop it or give this one a folder of its own (WEIR_DATA_DIR)`,
      { cause },
    );
  }
  // Only used in that sentence, so a failure does not prevent the start.
  await replaceFile(holder, `${process.pid}\n`).catch((error: Error) =>
    log?.warn('a second panel could not name this process', { reason: error.message }),
  );
  return { release };
}
