// The data of a disabled plugin in the database: its tables, its settings and its migration history.
import { QueryTypes } from 'sequelize';
import { nothing } from '../cli/declared-commands.js';
import type { Connections } from '../kernel/database/connect.js';
import { execute } from '../tables/connection.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { SettingGroups } from '../plugins/settings/contract.js';
import { tablePrefix, words } from './third-party.js';

export interface PluginData {
  readonly tables: readonly {
    readonly name: string;
    readonly type: 'table' | 'view';
    readonly rows: number;
  }[];
  readonly settings: readonly string[];
  readonly migrations: readonly string[];
  /** names of all plugins that have ever run migrations here */
  readonly others: readonly string[];
}
export const isEmpty = ({ tables, settings, migrations }: PluginData): boolean =>
  tables.length + settings.length + migrations.length === 0;

const CREATED = /\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?["'`]?(\w+)/gi;
/** In order of creation. */
const LISTS = {
  sqlite: "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid",
  mysql:
    "SELECT table_name AS name, CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END AS type FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY create_time, table_name",
} as const;

const tablesOf = ({ tables, migrations }: Plugin): string[] => [
  ...Object.values(tables).map(({ name }) => name),
  ...migrations
    .flatMap(({ up }) => up(words('sqlite')))
    .flatMap((sql) => [...sql.matchAll(CREATED)].map(([, name = '']) => name)),
];

/** Names of the settings that a plugin declares. Like its commands, they do not depend on its scope. */
export const settingsOf = (plugin: Plugin): string[] => [
  ...Object.keys(plugin.settings),
  ...plugin
    .contributes(nothing as never)
    .flatMap(({ point, value }) =>
      point.owner === SettingGroups.owner && point.name === SettingGroups.name
        ? Object.keys((value as { group: object }).group)
        : [],
    ),
];

export interface Wanted {
  readonly name: string;
  /** the built-in plugin of this name; third-party code is not loaded to find what it left behind */
  readonly builtIn: Plugin | undefined;
  /** names of settings that other plugins declare as well */
  readonly shared: ReadonlySet<string>;
}

export async function pluginDataOf(
  { sequelize, sql }: Connections,
  { name, builtIn, shared }: Wanted,
): Promise<PluginData> {
  const ask = <R extends object>(text: string, replacements: Record<string, unknown> = {}): Promise<R[]> =>
    sequelize.query<R>(text, { type: QueryTypes.SELECT, replacements });
  const all = await ask<{ name: string; type: 'table' | 'view' }>(LISTS[sql.dialect]);
  const has = (table: string): boolean => all.some((found) => found.name === table);
  const ran = has('kernel_migrations')
    ? await ask<{ plugin: string; name: string }>(
        'SELECT plugin, name FROM kernel_migrations ORDER BY ran_at',
      )
    : [];
  const others = [...new Set(ran.map(({ plugin }) => plugin))].filter((plugin) => plugin !== 'kernel');
  const own = new Set(builtIn ? tablesOf(builtIn) : []);
  // `x_acme_` is also a prefix of the tables of acme-tally, so a table belongs to the longest matching prefix.
  const prefix = tablePrefix(name);
  const longer = others.map(tablePrefix).filter((other) => other.startsWith(prefix) && other !== prefix);
  const isOwn = (table: string): boolean =>
    builtIn ? own.has(table) : table.startsWith(prefix) && !longer.some((other) => table.startsWith(other));
  const tables = await Promise.all(
    all
      .filter((table) => isOwn(table.name))
      .map(async (table) => ({
        ...table,
        rows: Number((await ask<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table.name}`))[0]?.n ?? 0),
      })),
  );
  const stored = has('settings')
    ? (await ask<{ name: string }>('SELECT name FROM settings ORDER BY name')).map((row) => row.name)
    : [];
  const declared = new Set(builtIn ? settingsOf(builtIn) : []);
  const settings = stored.filter(
    (setting) => !shared.has(setting) && (builtIn ? declared.has(setting) : setting.startsWith(`${name}.`)),
  );
  return {
    tables,
    settings,
    migrations: ran.filter(({ plugin }) => plugin === name).map((row) => row.name),
    others,
  };
}

/** Drops the data: on a SQLite file all or nothing. On a server the migration history goes last, so that an interrupted run can be repeated. */
export async function dropPluginData(
  connections: Connections,
  name: string,
  { tables, settings }: PluginData,
): Promise<void> {
  const { sequelize, sql } = connections;
  const names = settings.map((setting) => sequelize.escape(setting)).join(', ');
  const connection = await connections.begin();
  try {
    if (sql.dialect === 'mysql') await execute(connection, 'SET SESSION foreign_key_checks = 0');
    for (const { name: table, type } of [...tables].reverse())
      await execute(connection, `DROP ${type} ${table}`);
    if (sql.dialect === 'mysql') await execute(connection, 'START TRANSACTION');
    if (settings.length > 0) await execute(connection, `DELETE FROM settings WHERE name IN (${names})`);
    await execute(connection, `DELETE FROM kernel_migrations WHERE plugin = ${sequelize.escape(name)}`);
    await execute(connection, 'COMMIT');
  } catch (error) {
    await execute(connection, 'ROLLBACK').catch(() => undefined);
    throw error;
  }
}
