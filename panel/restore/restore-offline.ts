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

interface OfflineRestore {
  readonly env: Environment;
  readonly path: string;
  readonly keepHostSettings: boolean;
  readonly keys: readonly string[];
  /** for an encrypted backup */
  readonly decryption: Decryption;
}

/** Settings of the machine; undefined where there is no database, or none that can be read. */
async function hostRowsIn(directory: string): Promise<HostRows | undefined> {
  const file = await SqliteFile.open(join(directory, DATABASE_FILE)).catch(() => undefined);
  if (!file) return undefined;
  const read = async (table: string, columns: string, key: string, keys: readonly string[]) => ({
    table,
    key,
    keys,
    rows: (await file.rows<Row>(
      `SELECT ${columns} FROM ${table} WHERE ${key} IN (${keys.map(() => '?').join(', ')})`,
      keys,
    )) as HostRows[number]['rows'],
  });
  try {
    return [
      await read('settings', 'name, value, "generated"', 'name', HOST_SETTINGS),
      await read('panel_identity', 'id, guid', 'id', ['panel']),
    ];
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
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
  if (address !== undefined)
    throw new Error('the panel uses a database server: start it, and restore while it runs');
  const problem = await folderProblem(directory);
  if (problem !== undefined) throw new Error(problem);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(directory);
  try {
    await settleRestore({ directory });
    const keep = keepHostSettings ? await hostRowsIn(directory) : undefined;
    const database = new PanelDatabase(undefined, directory, env);
    const { folder, ...result } = await database.rehearse({ path, keep: keep ?? [], keys, decryption });
    if (result.problem !== '') throw new Error(result.problem);
    const swapped = await swapDatabase({ directory }, folder, true);
    await swapped.done();
    return { ...result, isHostKept: keep !== undefined };
  } finally {
    await lock.release();
  }
}
