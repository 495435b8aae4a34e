// Loads third-party plugins from the paths in the config file, and allows them only names of their own, so that they
// cannot clash with anything built in. This guards against accidents; a plugin runs with all rights of the panel.
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { declaredCommands } from '../cli/declared-commands.js';
import type { ColumnTypes } from '../tables/dialect.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Migration } from '../kernel/database/migrate.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';
import { withTimeout } from '../timing/with-timeout.js';
import { dataDirectoryOf } from './config-file.js';
import { isMadeByDefinePlugin, wrongParts } from './declared-parts.js';
import type { Manifest, Places } from './manifest.js';
import { notePluginFiles } from './plugin-files.js';
import { importHint } from './import-hint.js';
import { resolveToThisPanel } from './resolve-imports.js';
import { unknownParts } from './unknown-parts.js';
import type { Environment } from './variables.js';

const IMPORT_LIMIT_MS = 10_000;
/** Enough to read the names in migrations; no statement is run. */
export const words = (dialect: ColumnTypes['dialect']): ColumnTypes => ({
  dialect,
  id: 'BIGINT',
  integer: 'BIGINT',
  bool: 'BOOLEAN',
  name: 'VARCHAR(255)',
  text: 'TEXT',
  json: 'JSON',
});
const CREATED = /\b(?:TABLE|INDEX|VIEW|TRIGGER)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?["'`]?(\w+)/gi;

export const placesOf = (env: Environment, file: string): Places => {
  const dataDirectory = dataDirectoryOf(env);
  return { dataDirectory, base: file === '' ? dataDirectory : dirname(file) };
};

export const tablePrefix = (plugin: string): string => `x_${plugin.replaceAll('-', '_')}_`;
export const variablePrefix = (plugin: string): string =>
  `WEIR_X_${plugin.replaceAll('-', '_').toUpperCase()}_`;

function statementsOf({ name, up }: Migration, dialect: ColumnTypes['dialect']): readonly string[] {
  const statements: unknown = up(words(dialect));
  if (!Array.isArray(statements) || !statements.every((statement) => typeof statement === 'string'))
    throw new Error(`up of its migration ${name} must return a list of statements`);
  return statements as string[];
}

const allStatements = ({ migrations }: Plugin): readonly string[] =>
  (['sqlite', 'mysql'] as const).flatMap((dialect) =>
    migrations.flatMap((migration) => statementsOf(migration, dialect)),
  );

/** Names of declared tables that no migration creates, or renames another one to: each use of them would fail. */
function neverCreated({ tables }: Plugin, statements: readonly string[]): string[] {
  const named = new Set(statements.flatMap((sql) => sql.match(/\w+/g) ?? []));
  return Object.values(tables).flatMap(({ name }) => (named.has(name) ? [] : [name]));
}

/** Names that could clash with others, one sentence each. */
function trespasses({ name, tables, config, commands }: Plugin, statements: readonly string[]): string[] {
  const prefix = tablePrefix(name);
  const variables = variablePrefix(name);
  const created = statements.flatMap((sql) => [...sql.matchAll(CREATED)].map(([, created = '']) => created));
  const wrongTables = [...Object.values(tables).map((table) => table.name), ...created].filter(
    (table) => !table.startsWith(prefix),
  );
  const wrongVariables = Object.values(config)
    .map(({ variable }) => variable)
    .filter((variable) => !variable.startsWith(variables));
  const declared = declaredCommands([{ name, commands } as Plugin]).map((command) => command.name);
  return [
    ...[...new Set(wrongTables)].map((table) => `its table or index ${table} must be called ${prefix}…`),
    ...wrongVariables.map((variable) => `its variable ${variable} must be called ${variables}…`),
    ...declared
      .filter((command) => command !== name && !command.startsWith(`${name} `))
      .map((command) => `its command ${command} must begin with ${name}`),
  ];
}

/** Failed imports, by module. */
const failures = new Map<string, number>();

/** Node remembers a module that lacked a file, so the next attempt needs another address. */
async function importFresh(entry: string): Promise<{ default?: unknown }> {
  const failed = failures.get(entry) ?? 0;
  try {
    return await import(`${pathToFileURL(entry).href}${failed > 0 ? `?attempt=${failed + 1}` : ''}`);
  } catch (error) {
    failures.set(entry, failed + 1);
    throw error;
  }
}

async function importPlugin(reference: string, { name, entry, folder, stamp }: Manifest): Promise<Plugin> {
  resolveToThisPanel();
  notePluginFiles(name, folder, stamp);
  const loaded = await withTimeout(IMPORT_LIMIT_MS, 'the import', () => importFresh(entry)).catch(
    (cause: unknown) => {
      throw new PluginError(
        `the plugin ${name} (${reference}) failed while it was imported: ${messageOf(cause)}${importHint(messageOf(cause))}; update it, or leave it out`,
        undefined,
        cause,
      );
    },
  );
  const plugin = loaded.default;
  if (!isMadeByDefinePlugin(plugin))
    throw new PluginError(
      `the plugin ${name} (${reference}) has no default export made by definePlugin; its author must add it`,
    );
  if (typeof plugin.name === 'string' && plugin.name !== name)
    throw new PluginError(
      `the plugin ${reference} declares the name ${plugin.name}, but its package is weir-plugin-${name}; these must match`,
    );
  return plugin;
}

/** The plugin after the checks for third-party plugins; throws a PluginError whose sentence names it and the fix. */
export function asThirdParty(plugin: Plugin, where: string, version = plugin.version): Plugin {
  const unknown = [...unknownParts(plugin), ...wrongParts(plugin)];
  if (unknown.length > 0)
    throw new PluginError(`the plugin ${plugin.name} (${where}) cannot be used: ${unknown.join('; ')}`);
  let wrong: string[];
  let missing: string[];
  try {
    const statements = allStatements(plugin);
    wrong = trespasses(plugin, statements);
    missing = neverCreated(plugin, statements);
  } catch (cause) {
    throw new PluginError(
      `the plugin ${plugin.name} (${where}) cannot be read: ${messageOf(cause)}; update it, or leave it out`,
      undefined,
      cause,
    );
  }
  if (wrong.length > 0)
    throw new PluginError(
      `the plugin ${plugin.name} (${where}) uses names that are not its own: ${wrong.join('; ')}`,
    );
  if (missing.length > 0)
    throw new PluginError(
      `the plugin ${plugin.name} (${where}) declares the table ${missing.join(', ')}, which none of its migrations creates; its author has to add one`,
    );
  return { ...plugin, version, essential: false, outside: true };
}

/** Plugins that this process has imported, by folder. Node reads a module once, so an update needs another process. */
const imported = new Map<string, { readonly manifest: Manifest; readonly plugin: Promise<Plugin> }>();

/** The manifest of the plugin in this folder as this process imported it; undefined when it did not. */
export const importedFrom = (folder: string): Manifest | undefined => imported.get(folder)?.manifest;

/** Rejects with a PluginError whose sentence names the plugin and the fix. */
export async function loadThirdParty(reference: string, manifest: Manifest): Promise<Plugin> {
  let known = imported.get(manifest.folder);
  if (!known) {
    known = { manifest, plugin: importPlugin(reference, manifest) };
    imported.set(manifest.folder, known);
  }
  try {
    return asThirdParty(await known.plugin, reference, known.manifest.version);
  } catch (error) {
    // If a file was missing, the next attempt may succeed.
    if (known.manifest.stamp === manifest.stamp) imported.delete(manifest.folder);
    throw error;
  }
}
