// Permanently deletes the data of a disabled plugin from the database.
import { access } from 'node:fs/promises';
import { connect } from '../kernel/database/connect.js';
import { lockFolder } from '../file/lock.js';
import type { Log } from '../kernel/log/log.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { type Chosen, choosePlugins, isBuiltIn } from './choose-plugins.js';
import { configPath, dataDirectoryOf, readConfigFile } from './config-file.js';
import { findPlugin } from './find-plugins.js';
import { dropPluginData, isEmpty, type PluginData, pluginDataOf, settingsOf } from './plugin-data.js';
import { databaseAddress, folderProblem, appliedMigrations } from './inspect-data.js';
import type { Environment } from './variables.js';

export interface PurgeOptions {
  readonly name: string;
  readonly env: Environment;
  /** false: only report what would be deleted */
  readonly yes: boolean;
  /** Names of the plugins in the panel that runs on this data folder; undefined when none answers. */
  readonly running: () => Promise<readonly string[] | undefined>;
}
export interface Purged {
  readonly data: PluginData;
  /** path of the database backup */
  readonly copy: string | undefined;
}

/** Why the data is still needed, if it is. */
function needed(
  name: string,
  builtIn: Plugin | undefined,
  { plugins, leftOut }: Chosen,
  path: string,
): string | undefined {
  if (name === 'kernel' || builtIn?.essential)
    return `${name} is essential: the panel cannot start without it, so its data cannot be deleted`;
  if (plugins.some((plugin) => plugin.name === name))
    return `the plugin ${name} is enabled; disable it in ${path} and restart the panel first`;
  const out = leftOut.find((plugin) => plugin.name === name);
  return out && `the plugin ${name} is enabled but cannot run (${out.reason}); disable it in ${path} first`;
}

/** A log that only reports the backup. */
const listener = (heard: (copy: string) => void): Log => {
  const log: Log = {
    debug: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    child: () => log,
    info: (_, data) => heard((data as { copy: string }).copy),
  };
  return log;
};

export async function purge({ name, env, yes, running }: PurgeOptions): Promise<Purged> {
  const directory = dataDirectoryOf(env);
  const wrong: string[] = [];
  const file = await readConfigFile(env);
  const chosen = await choosePlugins(env, file);
  const address = databaseAddress(env, file, wrong);
  wrong.push(...chosen.file.problems);
  const folder = await access(directory).then(
    () => folderProblem(directory),
    () => `there is no panel in ${directory}; set WEIR_DATA_DIR to its data folder`,
  );
  if (folder !== undefined) wrong.push(folder);
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  const builtIn = (await isBuiltIn(name)) ? await findPlugin(name) : undefined;
  const why = needed(name, builtIn, chosen, configPath(env));
  if (why !== undefined) throw new Error(why);
  const has = await running();
  if (has?.includes(name))
    throw new Error(`the running panel still has the plugin ${name}; restart the panel first`);
  const none = { tables: [], settings: [], migrations: [], others: [] };
  if ((await appliedMigrations(address, directory)) === undefined) return { data: none, copy: undefined };

  // Keeps another panel from starting on it meanwhile.
  const lock = yes && has === undefined ? await lockFolder(directory) : undefined;
  try {
    const connections = await connect(address, directory);
    try {
      const data = await pluginDataOf(connections, {
        name,
        builtIn,
        shared: new Set(chosen.plugins.flatMap(settingsOf)),
      });
      let copy: string | undefined;
      if (!yes || isEmpty(data)) return { data, copy };
      await connections.backUp(listener((path) => (copy = path)));
      await dropPluginData(connections, name, data);
      return { data, copy };
    } finally {
      await connections.close();
    }
  } finally {
    await lock?.release();
  }
}
