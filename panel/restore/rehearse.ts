// Makes a new database of a backup, in a scratch folder, and starts a panel on it to see that it would run. Runs in a
// process of its own (rehearsal-process.ts), as the file may come from anywhere.
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sessionMigrations } from '../../kernel/auth/session.js';
import { maybe } from '../../kernel/container/token.js';
import { connect } from '../../kernel/database/connect.js';
import { Migrations } from '../../kernel/database/migrate.js';
import { messageOf } from '../../kernel/errors/errors.js';
import type { Log } from '../../kernel/log/log.js';
import { definePlugin, KERNEL_API, type Plugin } from '../../kernel/plugin/define.js';
import type { HostRows, Rehearsed } from '../../plugins/backup/contract.js';
import { type Checked, InvariantChecks, type InvariantsApi } from '../../plugins/invariants/contract.js';
import { bootPanel } from '../boot.js';
import { unstarted } from '../check.js';
import { type Chosen, choosePlugins, isBuiltIn } from '../choose-plugins.js';
import { readConfigFile } from '../config-file.js';
import { findPlugin } from '../find-plugins.js';
import type { AppliedMigration } from '../inspect-data.js';
import type { Environment } from '../variables.js';
import { copyRows } from './copy-rows.js';
import { openBackup } from './foreign-file.js';
import { quoted, SqliteFile } from './sqlite-file.js';

export const DATABASE_FILE = 'weir.sqlite';

export interface RehearsalOptions {
  /** the backup */
  readonly path: string;
  /** empty but for keys; the database is made here */
  readonly folder: string;
  /** rows of this panel that replace those of the backup */
  readonly keep: HostRows;
}

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

/** The plugins whose migrations the backup lists: those that run, and disabled ones of this release. */
async function knownPlugins(
  chosen: Chosen,
  history: readonly AppliedMigration[],
): Promise<readonly Plugin[]> {
  const known = new Map(chosen.plugins.map((plugin) => [plugin.name, plugin]));
  for (const name of new Set(history.map(({ plugin }) => plugin)))
    if (
      name !== 'kernel' &&
      !known.has(name) &&
      /^[a-z][a-z0-9-]{0,63}$/.test(name) &&
      (await isBuiltIn(name))
    )
      known.set(name, await findPlugin(name));
  return [...known.values()];
}

function checkHistory(plugins: readonly Plugin[], history: readonly AppliedMigration[]): void {
  const known = new Set(
    [{ name: 'kernel', migrations: sessionMigrations }, ...plugins].flatMap(({ name, migrations }) =>
      migrations.map((migration) => `${name}/${migration.name}`),
    ),
  );
  const unknown = [...new Set(history.map(({ plugin, name }) => `${plugin}/${name}`))].filter(
    (name) => !known.has(name),
  );
  if (unknown.length > 0)
    throw new Error(
      `the backup is of another release or has other plugins: these migrations are unknown here: ${unknown.slice(0, 10).join(', ')}${unknown.length > 10 ? ` and ${unknown.length - 10} more` : ''}; install that release, or enable those plugins`,
    );
}

/** Runs the migrations that the backup lists, and no others. */
async function makeTables(plugins: readonly Plugin[], history: readonly AppliedMigration[], folder: string) {
  const connections = await connect(undefined, folder);
  try {
    const migrations = new Migrations(connections, silent);
    for (const plugin of [{ name: 'kernel', migrations: sessionMigrations }, ...plugins]) {
      const ran = new Set(history.flatMap((row) => (row.plugin === plugin.name ? [row.name] : [])));
      await migrations.run(
        plugin.name,
        plugin.migrations.filter(({ name }) => ran.has(name)),
      );
    }
  } finally {
    await connections.close();
  }
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
async function tryPanel(chosen: Chosen, env: Environment, folder: string): Promise<readonly Checked[]> {
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
    env: { ...env, WEIR_DATA_DIR: folder, WEIR_DATABASE_URL: '' },
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

async function rehearseOrThrow(
  { path, folder, keep }: RehearsalOptions,
  env: Environment,
): Promise<Rehearsed> {
  const made = join(folder, DATABASE_FILE);
  const { file, history } = await openBackup(path);
  try {
    const chosen = await choosePlugins(env, await readConfigFile(env));
    const plugins = await knownPlugins(chosen, history);
    checkHistory(plugins, history);
    await makeTables(plugins, history, folder);
    const target = await SqliteFile.open(made);
    const copied = await copyRows(file, target)
      .catch((cause: unknown) => {
        throw new Error(`the file cannot be restored: ${messageOf(cause)}`, { cause });
      })
      .then(async (all) => {
        await keepRows(target, keep);
        return all;
      })
      .finally(() => target.close());
    const checked = await tryPanel(chosen, env, folder).catch((cause: unknown) => {
      throw new Error(`the panel would not start with it: ${messageOf(cause)}`, { cause });
    });
    const wrong = checked.filter(({ count, skipped }) => count > 0 || skipped.startsWith('the check failed'));
    if (wrong.length > 0)
      throw new Error(
        `the restored database has mistakes: ${wrong.map(({ name, found, skipped }) => `${name}: ${found[0] ?? skipped}`).join('; ')}`,
      );
    await finish(made);
    return { problem: '', ...copied };
  } finally {
    await file.close();
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
