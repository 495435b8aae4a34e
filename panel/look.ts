// What the panel would find: its data folder and its database, looked at and not touched.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { sessionMigrations } from '../kernel/auth/session.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { bootVariables } from './boot-settings.js';
import { type ConfigFile, panelSection } from './config-file.js';
import { type Environment, readVariables } from './variables.js';

export interface Ran {
  readonly plugin: string;
  readonly name: string;
}
interface Driver {
  readonly look: (url: URL, dataDirectory: string) => Promise<readonly Ran[] | undefined>;
}

export const databaseName = (address: string | undefined, dataDirectory: string): string => {
  if (address === undefined) return `weir.sqlite in ${dataDirectory}`;
  const url = new URL(address);
  return `${decodeURIComponent(url.pathname.slice(1))} on ${url.host}`;
};

/** The address of a server, where environment or config file name one. */
export function databaseAddress(env: Environment, file: ConfigFile, problems: string[]): string | undefined {
  const { databaseUrl } = bootVariables;
  const values = 'databaseUrl' in file.panel ? { databaseUrl: file.panel['databaseUrl'] } : {};
  return readVariables('kernel', { databaseUrl }, env, problems, { ...panelSection(file), values })
    .databaseUrl;
}

/** Which migrations have run in it; undefined where there is no database yet. */
export async function ranIn(
  address: string | undefined,
  dataDirectory: string,
): Promise<readonly Ran[] | undefined> {
  const driver = (await import(`../drivers/${address === undefined ? 'sqlite' : 'mysql'}/look.js`)) as Driver;
  return driver.look(new URL(address ?? 'sqlite:'), dataDirectory).catch((cause: unknown) => {
    throw new Error(
      `the database ${databaseName(address, dataDirectory)} cannot be opened: ${messageOf(cause)}`,
      { cause },
    );
  });
}

/** `plugin/migration` of what a start would run, in its order. */
export function pendingOf(
  plugins: readonly Pick<Plugin, 'name' | 'migrations'>[],
  ran: readonly Ran[],
): string[] {
  const done = new Set(ran.map(({ plugin, name }) => `${plugin}/${name}`));
  return [{ name: 'kernel', migrations: sessionMigrations }, ...plugins]
    .flatMap(({ name, migrations }) => migrations.map((migration) => `${name}/${migration.name}`))
    .filter((migration) => !done.has(migration));
}

/** What ran for these plugins, and they do not have: the database is that of another release. */
export function unknownOf(
  plugins: readonly Pick<Plugin, 'name' | 'migrations'>[],
  ran: readonly Ran[],
): string[] {
  const known = new Map(
    plugins.map(({ name, migrations }) => [name, new Set(migrations.map((migration) => migration.name))]),
  );
  return ran
    .filter(({ plugin, name }) => known.get(plugin)?.has(name) === false)
    .map(({ plugin, name }) => `${plugin}/${name}`);
}

/** Why the panel, run by whom this is run, could not use its data folder. */
export async function folderProblem(directory: string): Promise<string | undefined> {
  const found = await stat(directory).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isDirectory()) return `the data folder ${directory} is no folder; set WEIR_DATA_DIR to one`;
  const self = process.getuid?.();
  if (self !== undefined && found.uid !== self)
    return `the data folder ${directory} belongs to the user with number ${found.uid}, and this is run by the one with number ${self}; run it as the panel's user`;
  return access(directory, constants.W_OK | constants.X_OK).then(
    () => undefined,
    () => `the data folder ${directory} cannot be written to; give its owner the right to`,
  );
}
