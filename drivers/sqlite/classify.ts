// Which errors of SQLite are failures of the disk, and not of a statement.
import type { Classify } from '../../kernel/database/storage.js';

/** full, read-only, broken, without a journal file */
const DISK = /^SQLITE_(?:FULL|READONLY|IOERR|CANTOPEN)$/;
/** The file holds what SQLite has not written. */
const DAMAGED = /^SQLITE_(?:CORRUPT|NOTADB)$/;

/** The code of SQLite's error; blank for another one. */
export function codeOf(error: unknown): string {
  const { code, parent = error } = error as { readonly code?: string; readonly parent?: unknown };
  // Sequelize keeps the cause in `parent`.
  return code ?? (parent as { readonly code?: string }).code ?? '';
}

export const classify: Classify = (error) => {
  const found = codeOf(error);
  if (DISK.test(found)) return 'full';
  if (DAMAGED.test(found)) return 'damaged';
  // Another program has held the lock for longer than `busy_timeout`.
  return found === 'SQLITE_BUSY' ? 'away' : undefined;
};
