// Starts the panel on a copy of its database, as before an upgrade: migrations run, and the panel itself goes on.
import { copyFile, mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import { dataDirectoryOf, readConfigFile } from './config-file.js';
import { databaseAddress } from './inspect-data.js';
import { PanelDatabase } from './panel-database.js';
import { inChild } from './restore/in-child.js';
import { DATABASE_FILE } from './restore/rehearse.js';
import { SCRATCH_PREFIX } from './restore/swap.js';
import type { Environment } from './variables.js';

const KEY_FILE = 'secrets.key';
/** The copy, the copy that a start makes before its migrations, and what migrations rewrite. */
const COPIES = 3;
const MIB = 1024 ** 2;

/** Resolves with the reason why it does not start; undefined where it does, and where there is no SQLite file. Removes the copy. */
export async function tryOnCopy(env: Environment): Promise<string | undefined> {
  const directory = dataDirectoryOf(env);
  const address = databaseAddress(env, await readConfigFile(env), []);
  const database = await stat(join(directory, DATABASE_FILE)).catch(() => undefined);
  if (address !== undefined || !database) return undefined;
  // In the data folder: the folder for temporary files may be in memory. A start removes what a kill leaves.
  const folder = await mkdtemp(join(directory, SCRATCH_PREFIX));
  try {
    const { bavail, bsize } = await statfs(folder);
    const needed = database.size * COPIES;
    if (bavail * bsize < needed)
      return `a copy needs ${Math.ceil(needed / MIB)} MiB in ${directory}, which has ${Math.floor((bavail * bsize) / MIB)} MiB`;
    await new PanelDatabase(undefined, directory, env).snapshot(join(folder, DATABASE_FILE));
    await copyFile(join(directory, KEY_FILE), join(folder, KEY_FILE)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      },
    );
    const { problem } = await inChild({ kind: 'trial', folder }, env);
    return problem === '' ? undefined : problem;
  } catch (error) {
    return messageOf(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
