// Inspects the data folder and the database without changing them.
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { sessionMigrations } from '../kernel/auth/session.js';
import { messageOf } from '../kernel/errors/errors.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { bootVariables } from './boot-settings.js';
import { type ConfigFile, panelSection } from './config-file.js';
import { type Environment, readVariables } from './variables.js';

export interface AppliedMigration {
  readonly plugin: string;
  readonly name: string;
}
interface Driver {
  readonly appliedMigrations: (
    url: URL,
    dataDirectory: string,
  ) => Promise<readonly AppliedMigration[] | undefined>;
}

export const databaseName = (address: string | undefined, dataDirectory: string): string => {
  if (address === undefined) return `weir.sqlite in ${dataDirectory}`;
  const url = new URL(address);
  return `${decodeURIComponent(url.pathname.slice(1))} on ${url.host}`;
};

/** The address of a database server, if environment or config file name one. */
export function databaseAddress(env: Environment, file: ConfigFile, problems: string[]): string | undefined {
  const { databaseUrl } = bootVariables;
  const values = 'databaseUrl' in file.panel ? { databaseUrl: file.panel['databaseUrl'] } : {};
  return readVariables('kernel', { databaseUrl }, env, problems, { ...panelSection(file), values })
    .databaseUrl;
}

/** The migrations that have run in the database; undefined where there is no database yet. */
export async function appliedMigrations(
  address: string | undefined,
  dataDirectory: string,
): Promise<readonly AppliedMigration[] | undefined> {
  const driver = (await import(
    `../drivers/${address === undefined ? 'sqlite' : 'mysql'}/applied-migrations.js`
  )) as Driver;
  return driver.appliedMigrations(new URL(address ?? 'sqlite:'), dataDirectory).catch((cause: unknown) => {
    throw new Error(
      `the database ${databaseName(address, dataDirectory)} cannot be opened: ${messageOf(cause)}`,
      { cause },
    );
  });
}

/** `plugin/migration` for each migration that a start would run, in order. */
export function pendingOf(
  plugins: readonly Pick<Plugin, 'name' | 'migrations'>[],
  ran: readonly AppliedMigration[],
): string[] {
  const done = new Set(ran.map(({ plugin, name }) => `${plugin}/${name}`));
  return [{ name: 'kernel', migrations: sessionMigrations }, ...plugins]
    .flatMap(({ name, migrations }) => migrations.map((migration) => `${name}/${migration.name}`))
    .filter((migration) => !done.has(migration));
}

/** Migrations that ran for these plugins and that they no longer declare: the database belongs to another release. */
export function unknownOf(
  plugins: readonly Pick<Plugin, 'name' | 'migrations'>[],
  ran: readonly AppliedMigration[],
): string[] {
  const known = new Map(
    plugins.map(({ name, migrations }) => [name, new Set(migrations.map((migration) => migration.name))]),
  );
  return ran
    .filter(({ plugin, name }) => known.get(plugin)?.has(name) === false)
    .map(({ plugin, name }) => `${plugin}/${name}`);
}

/** Less than a start and its first backup need. */
const LITTLE_BYTES = 64 * 1024 * 1024;

/** One sentence where the disk of the data folder is nearly full. */
export async function diskNote(directory: string): Promise<string | undefined> {
  const facts = await statfs(directory).catch(() => undefined);
  const free = facts ? facts.bavail * facts.bsize : LITTLE_BYTES;
  return free < LITTLE_BYTES
    ? `the disk of ${directory} has ${Math.floor(free / 1024 / 1024)} MiB left; free space on it, or the panel cannot save`
    : undefined;
}

/** Why the current user could not run the panel with its data folder. */
export async function folderProblem(directory: string): Promise<string | undefined> {
  const found = await stat(directory).catch(() => undefined);
  if (!found) return undefined;
  if (!found.isDirectory())
    return `the data folder ${directory} is not a directory; set WEIR_DATA_DIR to one`;
  const self = process.getuid?.();
  if (self !== undefined && found.uid !== self)
    return `the data folder ${directory} belongs to the user ID ${found.uid}, but this runs as the user ID ${self}; run it as the panel's user`;
  return access(directory, constants.W_OK | constants.X_OK).then(
    () => undefined,
    () => `the data folder ${directory} is not writable; give its owner write permission`,
  );
}
