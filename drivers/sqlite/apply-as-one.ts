// Runs a migration on SQLite, where one transaction holds all of its statements.
import { execute, type SqliteConnection } from '../../tables/connection.js';

export async function applyAsOne(
  connection: SqliteConnection,
  migration: string,
  statements: readonly string[],
): Promise<void> {
  await execute(connection, 'BEGIN IMMEDIATE');
  try {
    for (const statement of statements) await execute(connection, statement);
    await execute(connection, 'COMMIT');
  } catch (cause) {
    await execute(connection, 'ROLLBACK').catch(() => undefined);
    throw new Error(`migration ${migration} failed and was rolled back: ${(cause as Error).message}`, {
      cause,
    });
  }
}
