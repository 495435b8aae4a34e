// Restores a backup while no panel runs, for example into a new data folder. The panel's database need not be readable.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '../../file/lock.js';
import {
  type Decryption,
  HOST_SETTINGS,
  type HostRows,
  type Rehearsed,
} from '../../plugins/backup/contract.js';
import { dataDirectoryOf, readConfigFile } from '../config-file.js';
import { databaseAddress, folderProblem } from '../inspect-data.js';
import { PanelDatabase } from '../panel-database.js';
import type { Environment } from '../variables.js';
import { DATABASE_FILE } from './rehearse.js';
import { type Row, SqliteFile } from './sqlite-file.js';
import { settleRestore, swapDatabase } from './swap.js';

interface ServerDriver {
  readonly MysqlRows: {
    target(url: URL): Promise<{ rows(sql: string): Promise<Row[]>; close(): Promise<void> }>;
  };
}
interface ServerDatabases {
  readonly holdAlone: (url: URL) => Promise<{ release(): Promise<void> }>;
}

interface OfflineRestore {
  readonly env: Environment;
  readonly path: string;
  readonly keepHostSettings: boolean;
  readonly keys: readonly string[];
  /** for an encrypted backup */
  readonly decryption: Decryption;
}

type Read = (sql: string) => Promise<Row[]>;
const listed = (keys: readonly string[]): string => keys.map((key) => `'${key}'`).join(', ');

async function rowsFrom(read: Read): Promise<HostRows> {
  const table = async (name: string, columns: string, key: string, keys: readonly string[]) => ({
    table: name,
    key,
    keys,
    rows: (await read(
      `SELECT ${columns} FROM ${name} WHERE ${key} IN (${listed(keys)})`,
    )) as HostRows[number]['rows'],
  });
  return [
    await table('settings', 'name, value, "generated"', 'name', HOST_SETTINGS),
    await table('panel_identity', 'id, guid', 'id', ['panel']),
  ];
}

/** Settings of the machine; undefined where there is no database, or none that can be read. */
async function hostRowsIn(directory: string, address: string | undefined): Promise<HostRows | undefined> {
  if (address !== undefined) {
    const driver = (await import('../../drivers/mysql/rows.js' as string)) as ServerDriver;
    const server = await driver.MysqlRows.target(new URL(address));
    return rowsFrom((sql) => server.rows(sql))
      .catch(() => undefined)
      .finally(() => server.close());
  }
  const file = await SqliteFile.open(join(directory, DATABASE_FILE)).catch(() => undefined);
  if (!file) return undefined;
  return rowsFrom((sql) => file.rows<Row>(sql))
    .catch(() => undefined)
    .finally(() => file.close());
}

/** Nobody else may use the database: the lock of the data folder says nothing about a server. */
async function holdServer(address: string | undefined): Promise<{ release(): Promise<void> } | undefined> {
  if (address === undefined) return undefined;
  const { holdAlone } = (await import('../../drivers/mysql/databases.js' as string)) as ServerDatabases;
  return holdAlone(new URL(address));
}

export interface RestoredOffline extends Rehearsed {
  /** whether the settings of the machine stayed */
  readonly isHostKept: boolean;
}

/** Rejects with FolderInUse where a panel runs, and with the reason if the backup cannot be restored. */
export async function restoreOffline({
  env,
  path,
  keepHostSettings,
  keys,
  decryption,
}: OfflineRestore): Promise<RestoredOffline> {
  const directory = dataDirectoryOf(env);
  const wrong: string[] = [];
  const address = databaseAddress(env, await readConfigFile(env), wrong);
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  const problem = await folderProblem(directory);
  if (problem !== undefined) throw new Error(problem);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(directory);
  let server: { release(): Promise<void> } | undefined;
  try {
    server = await holdServer(address);
    await settleRestore({ directory, address });
    const keep = keepHostSettings ? await hostRowsIn(directory, address) : undefined;
    const database = new PanelDatabase(address, directory, env);
    const { folder, ...result } = await database.rehearse({ path, keep: keep ?? [], keys, decryption });
    if (result.problem !== '') throw new Error(result.problem);
    const swapped = await swapDatabase({ directory, address }, folder, true);
    await swapped.done();
    return { ...result, isHostKept: keep !== undefined };
  } finally {
    await server?.release();
    await lock.release();
  }
}
