// A file that SQLite cannot read: what an admin does then.
import { codeOf } from './classify.js';

const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)$/;

/** Adds the way out to an error of a damaged file. */
export function withWayOut(error: unknown): unknown {
  if (!DAMAGED.test(codeOf(error))) return error;
  return new Error(
    `${(error as Error).message}; the file weir.sqlite is damaged: stop the panel, and restore the newest backup with \`weir restore <file>\``,
    { cause: error },
  );
}
