// SQLite reads a statement to its first character NUL, also within a text, and Sequelize writes texts into statements as they are.
import type { SqliteConnection } from '../../tables/connection.js';

type Call = (sql: string, ...rest: readonly unknown[]) => unknown;

/** NUL stands in texts only: the statements themselves have none. */
const withNul = (sql: string): string =>
  sql.includes('\0') ? sql.replaceAll('\0', "' || char(0) || '") : sql;

/** Lets texts with NUL through. */
export function acceptNul(connection: SqliteConnection): void {
  const calls = connection as unknown as Record<string, Call>;
  for (const name of ['all', 'run', 'exec']) {
    const call = calls[name]?.bind(connection);
    if (call) calls[name] = (sql, ...rest) => call(withNul(sql), ...rest);
  }
}
