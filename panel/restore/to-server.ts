// Moves rows between a SQLite file and a database server, in both directions.
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chosen, choosePlugins } from '../choose-plugins.js';
import { readConfigFile } from '../config-file.js';
import type { AppliedMigration } from '../inspect-data.js';
import type { Environment } from '../variables.js';
import { copyRows, type RowSource, type RowTarget } from './copy-rows.js';
import { makeTables, pluginsOf } from './make-tables.js';
import { SqliteFile } from './sqlite-file.js';
import { SqliteSource, SqliteTarget } from './sqlite-rows.js';

type ServerRows = RowSource & RowTarget & { close(): Promise<void>; rows<R>(sql: string): Promise<R[]> };
interface Driver {
  readonly MysqlRows: {
    snapshot(url: URL): Promise<ServerRows>;
    target(url: URL): Promise<ServerRows>;
  };
}
interface Databases {
  /** Creates an empty database beside the panel's own; resolves with its address. */
  readonly makeScratch: (url: URL) => Promise<URL>;
}
const driver = (): Promise<Driver> => import('../../drivers/mysql/rows.js' as string) as Promise<Driver>;
const HISTORY = 'SELECT plugin, name FROM kernel_migrations';

/** Copies a complete SQLite database into a new one beside the panel's own. Resolves with its address. */
export async function moveToServer(
  path: string,
  { address, folder, chosen }: { readonly address: string; readonly folder: string; readonly chosen: Chosen },
): Promise<string> {
  const databases = (await import('../../drivers/mysql/databases.js' as string)) as Databases;
  const scratch = await databases.makeScratch(new URL(address));
  const { MysqlRows } = await driver();
  const file = await SqliteFile.open(path);
  try {
    const history = await file.rows<AppliedMigration>(HISTORY);
    await makeTables(await pluginsOf(chosen, history), history, { address: scratch.href, folder });
    const target = await MysqlRows.target(scratch);
    try {
      await copyRows(new SqliteSource(file), target);
    } finally {
      await target.close();
    }
  } finally {
    await file.close();
  }
  return scratch.href;
}

/** Writes the database of a server to a SQLite file at `path`; `folder` is empty and on the same disk. */
export async function copyFromServer(
  env: Environment,
  { address, folder, path }: { readonly address: string; readonly folder: string; readonly path: string },
): Promise<void> {
  const { MysqlRows } = await driver();
  const source = await MysqlRows.snapshot(new URL(address));
  try {
    const history = await source.rows<AppliedMigration>(HISTORY);
    const chosen = await choosePlugins(env, await readConfigFile(env));
    await makeTables(await pluginsOf(chosen, history), history, { folder });
    const made = join(folder, 'weir.sqlite');
    const file = await SqliteFile.open(made);
    try {
      const { leftOut } = await copyRows(source, new SqliteTarget(file));
      if (leftOut.length > 0)
        throw new Error(
          `no plugin here declares ${leftOut.join(', ')}: enable the plugin again, or delete its data with \`weir purge\``,
        );
      await file.execute('PRAGMA journal_mode=DELETE');
    } finally {
      await file.close();
    }
    const handle = await open(made, 'r+');
    await handle.chmod(0o600);
    await handle.sync().finally(() => handle.close());
    await rename(made, path);
  } finally {
    await source.close();
  }
}
