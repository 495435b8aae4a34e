// Makes the tables of a new database by our own migrations.
import { sessionMigrations } from '../../kernel/auth/session.js';
import { connect } from '../../kernel/database/connect.js';
import { Migrations } from '../../kernel/database/migrate.js';
import type { Log } from '../../kernel/log/log.js';
import type { Plugin } from '../../kernel/plugin/define.js';
import { type Chosen, isBuiltIn } from '../choose-plugins.js';
import { findPlugin } from '../find-plugins.js';
import type { AppliedMigration } from '../inspect-data.js';

type Migrating = Pick<Plugin, 'name' | 'migrations'>;

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

/** The plugins whose migrations the history lists: those that run, and disabled ones of this release. */
export async function pluginsOf(
  chosen: Chosen,
  history: readonly AppliedMigration[],
): Promise<readonly Migrating[]> {
  const known = new Map<string, Migrating>(chosen.plugins.map((plugin) => [plugin.name, plugin]));
  for (const name of new Set(history.map(({ plugin }) => plugin)))
    if (
      name !== 'kernel' &&
      !known.has(name) &&
      /^[a-z][a-z0-9-]{0,63}$/.test(name) &&
      (await isBuiltIn(name))
    )
      known.set(name, await findPlugin(name));
  return [{ name: 'kernel', migrations: sessionMigrations }, ...known.values()];
}

/** `plugin/migration` for each one that nobody here declares. */
export function unknownMigrations(
  plugins: readonly Migrating[],
  history: readonly AppliedMigration[],
): readonly string[] {
  const known = new Set(
    plugins.flatMap(({ name, migrations }) => migrations.map((migration) => `${name}/${migration.name}`)),
  );
  return [...new Set(history.map(({ plugin, name }) => `${plugin}/${name}`))].filter(
    (name) => !known.has(name),
  );
}

/** Runs the migrations of the history that are known here, and no others. */
export async function makeTables(
  plugins: readonly Migrating[],
  history: readonly AppliedMigration[],
  { address, folder }: { readonly address?: string | undefined; readonly folder: string },
): Promise<void> {
  const connections = await connect(address, folder);
  try {
    const migrations = new Migrations(connections, silent);
    for (const plugin of plugins) {
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
