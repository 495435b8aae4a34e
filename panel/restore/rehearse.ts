// Makes a new database of a backup, in a scratch folder, and starts a panel on it to see that it would run. Runs in a
// process of its own (rehearsal-process.ts), as the file may come from anywhere.
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { maybe } from '../../kernel/container/token.js';
import { messageOf } from '../../kernel/errors/errors.js';
import { definePlugin, KERNEL_API } from '../../kernel/plugin/define.js';
import {
  type Decryption,
  decryptFile,
  type HostRows,
  isEncrypted,
  type Rehearsed,
} from '../../plugins/backup/contract.js';
import { type Checked, InvariantChecks, type InvariantsApi } from '../../plugins/invariants/contract.js';
import { bootPanel } from '../boot.js';
import { unstarted } from '../check.js';
import { type Chosen, choosePlugins } from '../choose-plugins.js';
import { readConfigFile } from '../config-file.js';
import type { Environment } from '../variables.js';
import { copyRows } from './copy-rows.js';
import { openBackup } from './foreign-file.js';
import { makeTables, pluginsOf, unknownMigrations } from './make-tables.js';
import { moveToServer } from './to-server.js';
import { quoted, SqliteFile } from './sqlite-file.js';
import { SqliteSource, SqliteTarget } from './sqlite-rows.js';

export const DATABASE_FILE = 'weir.sqlite';
/** the content of an encrypted backup, as long as a rehearsal takes */
const CONTENT_FILE = 'decrypted.db';

export interface RehearsalOptions {
  /** the backup */
  readonly path: string;
  /** empty but for keys; the database is made here */
  readonly folder: string;
  /** rows of this panel that replace those of the backup */
  readonly keep: HostRows;
  /** for an encrypted backup */
  readonly decryption?: Decryption | undefined;
  /** of the database server, if the panel uses one */
  readonly address?: string | undefined;
}

function checkHistory(unknown: readonly string[]): void {
  if (unknown.length > 0)
    throw new Error(
      `the backup is of another release or has other plugins: these migrations are unknown here: ${unknown.slice(0, 10).join(', ')}${unknown.length > 10 ? ` and ${unknown.length - 10} more` : ''}; install that release, or enable those plugins`,
    );
}

/** Settings that belong to this machine. A row that is missing here is deleted: then the default holds, as before. */
async function keepRows(target: SqliteFile, keep: HostRows): Promise<void> {
  for (const { table, key, keys, rows } of keep) {
    await target.run(
      `DELETE FROM ${quoted(table)} WHERE ${quoted(key)} IN (${keys.map(() => '?').join(', ')})`,
      keys,
    );
    for (const row of rows)
      await target.run(
        `INSERT INTO ${quoted(table)} (${Object.keys(row).map(quoted).join(', ')}) VALUES (${Object.keys(row)
          .map(() => '?')
          .join(', ')})`,
        Object.values(row),
      );
  }
}

/** Starts a panel without listeners and jobs on the folder, which runs the remaining migrations, and checks it. */
async function tryPanel(
  chosen: Chosen,
  env: Environment,
  folder: string,
  address = '',
): Promise<readonly Checked[]> {
  let checks: InvariantsApi | undefined;
  const asker = definePlugin({
    name: 'restore-check',
    version: '0.0.0',
    api: KERNEL_API,
    about: 'Checks a restored database.',
    uses: { checks: maybe(InvariantChecks) },
    start: (scope) => void (checks = scope.checks),
  });
  const { databaseUrl: _, ...panel } = chosen.file.panel;
  const kernel = await bootPanel({
    plugins: [...chosen.plugins.map(unstarted), asker],
    leftOut: chosen.leftOut,
    file: { ...chosen.file, panel },
    env: { ...env, WEIR_DATA_DIR: folder, WEIR_DATABASE_URL: address },
    forCommand: true,
    write: () => undefined,
  });
  try {
    const failed = kernel.plugins().find(({ state, outside }) => state === 'failed' && !outside);
    if (failed && !chosen.leftOut.some(({ name }) => name === failed.name)) throw new Error(failed.reason);
    return (await checks?.run(new AbortController().signal)) ?? [];
  } finally {
    await kernel.stop('the rehearsal is over');
  }
}

/** Rejects where the panel would not start in this folder. */
export async function tryStart(env: Environment, folder: string): Promise<void> {
  await tryPanel(await choosePlugins(env, await readConfigFile(env)), env, folder);
}

async function checkPanel(chosen: Chosen, env: Environment, folder: string, address?: string): Promise<void> {
  const checked = await tryPanel(chosen, env, folder, address).catch((cause: unknown) => {
    throw new Error(`the panel would not start with it: ${messageOf(cause)}`, { cause });
  });
  const wrong = checked.filter(({ count, skipped }) => count > 0 || skipped.startsWith('the check failed'));
  if (wrong.length > 0)
    throw new Error(
      `the restored database has mistakes: ${wrong.map(({ name, found, skipped }) => `${name}: ${found[0] ?? skipped}`).join('; ')}`,
    );
}

/** Makes one file of the database, and waits until it is on the disk. */
async function finish(path: string): Promise<void> {
  const file = await SqliteFile.open(path);
  try {
    await file.execute('DELETE FROM kernel_sessions; PRAGMA journal_mode=DELETE;');
  } finally {
    await file.close();
  }
  const handle = await open(path, 'r+');
  try {
    await handle.chmod(0o600);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Resolves with the path of a file that is not encrypted. */
async function decrypted({ path, folder, decryption }: RehearsalOptions): Promise<string> {
  // What cannot be opened is named by the checks that follow.
  if (!(await isEncrypted(path).catch(() => false))) return path;
  const content = join(folder, CONTENT_FILE);
  try {
    await decryptFile(path, content, decryption ?? { identities: [], passphrase: '' });
    return content;
  } catch (cause) {
    throw new Error(`the file cannot be restored: ${messageOf(cause)}`, { cause });
  }
}

async function rehearseOrThrow(options: RehearsalOptions, env: Environment): Promise<Rehearsed> {
  const { folder, keep, address } = options;
  const path = await decrypted(options);
  const made = join(folder, DATABASE_FILE);
  const { file, history } = await openBackup(path);
  try {
    const chosen = await choosePlugins(env, await readConfigFile(env));
    const plugins = await pluginsOf(chosen, history);
    checkHistory(unknownMigrations(plugins, history));
    await makeTables(plugins, history, { folder });
    const target = await SqliteFile.open(made);
    const copied = await copyRows(new SqliteSource(file), new SqliteTarget(target))
      .catch((cause: unknown) => {
        throw new Error(`the file cannot be restored: ${messageOf(cause)}`, { cause });
      })
      .then(async (all) => {
        await keepRows(target, keep);
        return all;
      })
      .finally(() => target.close());
    await checkPanel(chosen, env, folder);
    await finish(made);
    if (address !== undefined) {
      const scratch = await moveToServer(made, { address, folder, chosen });
      await checkPanel(chosen, env, folder, scratch);
    }
    return { problem: '', ...copied };
  } finally {
    await file.close();
    await rm(join(folder, CONTENT_FILE), { force: true });
  }
}

/** Resolves in any case; with a problem the folder has no database. */
export async function rehearse(options: RehearsalOptions, env: Environment): Promise<Rehearsed> {
  try {
    return await rehearseOrThrow(options, env);
  } catch (error) {
    await rm(join(options.folder, DATABASE_FILE), { force: true });
    return { problem: messageOf(error), rows: {}, leftOut: [] };
  }
}
