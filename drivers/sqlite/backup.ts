// Backs up the database before migrating; keeps the last few backups.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sequelize } from 'sequelize';
import { execute, type SqliteConnection } from '../../tables/connection.js';
import type { Log } from '../../kernel/log/log.js';

const KEPT = 3;

/** Copies through SQLite: a copy of the file would miss the write-ahead log. */
export async function backUp(
  sequelize: Sequelize,
  connection: SqliteConnection,
  dataDirectory: string,
  log: Log,
): Promise<void> {
  const folder = join(dataDirectory, 'backups');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const copy = join(folder, `before-migration-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.sqlite`);
  await execute(connection, `VACUUM INTO ${sequelize.escape(copy)}`);
  log.info('copied the database before migrating', { copy });
  const old = (await readdir(folder))
    .filter((name) => name.startsWith('before-migration-'))
    .sort()
    .slice(0, -KEPT);
  await Promise.all(old.map((name) => rm(join(folder, name))));
}
