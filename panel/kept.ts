// What the database keeps of a plugin that is off: its tables, its settings, and the ledger of its migrations.
import { QueryTypes } from 'sequelize';
import { nothing } from '../cli/declared.js';
import { type Connections, execute } from '../kernel/database/connect.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { SettingGroups } from '../plugins/settings/contract.js';
import { tablePrefix, words } from './outside.js';

export interface Kept {
  readonly tables: readonly {
    readonly name: string;
    readonly type: 'table' | 'view';
    readonly rows: number;
  }[];
  readonly settings: readonly string[];
  readonly migrations: readonly string[];
  /** names under which anything has ever run here */
  readonly others: readonly string[];
}
export const isNothing = ({ tables, settings, migrations }: Kept): boolean =>
  tables.length + settings.length + migrations.length === 0;

const CREATED = /\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?["'`]?(\w+)/gi;
/** In the order in which they were made. */
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

/** Names of the settings that a plugin declares; like its commands, they do not depend on its scope. */
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
  /** of this tree; nobody has to load what somebody else wrote to see what it left */
  readonly builtIn: Plugin | undefined;
  /** names of settings that others declare as well */
  readonly shared: ReadonlySet<string>;
}

export async function keptOf(
  { sequelize, sql }: Connections,
  { name, builtIn, shared }: Wanted,
): Promise<Kept> {
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
  // `x_acme_` begins what is of acme-tally, too: a table belongs to the longest name that fits.
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

/** Drops it, on a file all or nothing; on a server what comes first is gone first, and the ledger last, so that it can be done again. */
export async function drop(
  connections: Connections,
  name: string,
  { tables, settings }: Kept,
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
