// Inspects the database without changing it and without taking the lock of a running panel.
import { openToLook } from './look.js';
import { collationOf } from './version.js';

interface AppliedMigration {
  readonly plugin: string;
  readonly name: string;
}

/** Reads which migrations have run; rejects where the server cannot be used. */
export async function appliedMigrations(
  url: URL,
  _dataDirectory: string,
): Promise<readonly AppliedMigration[] | undefined> {
  const connection = await openToLook(url);
  try {
    const query = async (sql: string) => (await connection.query(sql))[0] as Record<string, unknown>[];
    collationOf(String((await query('SELECT VERSION() AS version'))[0]?.['version']));
    const ledger = await query(
      "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'kernel_migrations'",
    );
    return ledger.length === 0
      ? []
      : ((await query(
          'SELECT plugin, name FROM kernel_migrations ORDER BY ran_at',
        )) as unknown as AppliedMigration[]);
  } finally {
    await connection.end();
  }
}
