// Drops for good what the database keeps of a plugin that is off.
import { access } from 'node:fs/promises';
import { connect } from '../kernel/database/connect.js';
import { lockFolder } from '../file/lock.js';
import type { Log } from '../kernel/log/log.js';
import type { Plugin } from '../kernel/plugin/define.js';
import { type Chosen, choosePlugins, isBuiltIn } from './choose.js';
import { configPath, dataDirectoryOf, readConfigFile } from './config-file.js';
import { findPlugin } from './find.js';
import { drop, isNothing, type Kept, keptOf, settingsOf } from './kept.js';
import { databaseAddress, folderProblem, ranIn } from './look.js';
import type { Environment } from './variables.js';

export interface PurgeOptions {
  readonly name: string;
  readonly env: Environment;
  /** else it is only told what would go */
  readonly yes: boolean;
  /** Names of the plugins that the panel has which runs on this data folder; undefined when none answers. */
  readonly running: () => Promise<readonly string[] | undefined>;
}
export interface Purged {
  readonly kept: Kept;
  /** the file that the database was copied to before */
  readonly copy: string | undefined;
}

/** Why what it keeps is needed, if it is. */
function needed(
  name: string,
  builtIn: Plugin | undefined,
  { plugins, leftOut }: Chosen,
  path: string,
): string | undefined {
  if (name === 'kernel' || builtIn?.essential)
    return `${name} is essential: no panel starts without it, and nothing of it is dropped`;
  if (plugins.some((plugin) => plugin.name === name))
    return `the plugin ${name} is on; switch it off in ${path} and restart the panel first`;
  const out = leftOut.find((plugin) => plugin.name === name);
  return (
    out &&
    `the plugin ${name} is not switched off, it only cannot run (${out.reason}); switch it off in ${path} first`
  );
}

/** A log that hears of nothing but the copy. */
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
    throw new Error(
      `the panel that runs still has the plugin ${name}; it is off from its next start on, so restart it first`,
    );
  const none = { tables: [], settings: [], migrations: [], others: [] };
  if ((await ranIn(address, directory)) === undefined) return { kept: none, copy: undefined };

  // Nobody starts a panel on it meanwhile.
  const lock = yes && has === undefined ? await lockFolder(directory) : undefined;
  try {
    const connections = await connect(address, directory);
    try {
      const kept = await keptOf(connections, {
        name,
        builtIn,
        shared: new Set(chosen.plugins.flatMap(settingsOf)),
      });
      let copy: string | undefined;
      if (!yes || isNothing(kept)) return { kept, copy };
      await connections.keepCopy(listener((path) => (copy = path)));
      await drop(connections, name, kept);
      return { kept, copy };
    } finally {
      await connections.close();
    }
  } finally {
    await lock?.release();
  }
}
