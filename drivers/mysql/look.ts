// Looks at the database without touching it, and without the lock of the panel that may run on it.
import { createConnection } from 'mysql2/promise';
import { collationOf } from './version.js';

interface Ran {
  readonly plugin: string;
  readonly name: string;
}

/** Which migrations have run; rejects where the server cannot be used. */
export async function look(url: URL, _dataDirectory: string): Promise<readonly Ran[] | undefined> {
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(
    decodeURIComponent,
  ) as [string, string, string];
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const connection = await createConnection({
    host,
    port: Number(url.port || 3306),
    user,
    password,
    database,
    connectTimeout: 10_000,
  });
  try {
    const ask = async (sql: string) => (await connection.query(sql))[0] as Record<string, unknown>[];
    collationOf(String((await ask('SELECT VERSION() AS version'))[0]?.['version']));
    const ledger = await ask(
      "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'kernel_migrations'",
    );
    return ledger.length === 0
      ? []
      : ((await ask('SELECT plugin, name FROM kernel_migrations ORDER BY ran_at')) as unknown as Ran[]);
  } finally {
    await connection.end();
  }
}
