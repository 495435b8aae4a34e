// A start that is none: everything that a start would find out, without its database, its ports and its core.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import { maybe } from '../kernel/container/token.js';
import { StaticFolderError } from '../net/static-folder.js';
import { definePlugin, KERNEL_API, type Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';
import { CoreCheck, type CoreCheckApi, type CoreCheckResult } from '../plugins/engine/contract.js';
import { bootPanel } from './boot.js';
import { type Chosen, choosePlugins } from './choose.js';
import { type ConfigFile, dataDirectoryOf, type PluginEntry, readConfigFile } from './config-file.js';
import { databaseAddress, databaseName, folderProblem, pendingOf, ranIn, unknownOf } from './look.js';
import { ConfigError, type Environment } from './variables.js';

export interface CheckOptions {
  readonly env: Environment;
  /** a plugin that the config file does not name yet: its reference, and its entry */
  readonly add?: { readonly reference: string; readonly entry: PluginEntry } | undefined;
  /** a plugin that is taken out of it */
  readonly without?: string | undefined;
  /** the data folder whose `plugins/` are used, where that is another one */
  readonly pluginsOf?: string | undefined;
}

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly outside: boolean;
}
export interface Report {
  /** what keeps the panel from starting, one sentence each */
  readonly problems: readonly string[];
  /** who would not run though it should, and why */
  readonly failed: readonly (Listed & { readonly reason: string })[];
  readonly notes: readonly string[];
  /** those that would run */
  readonly plugins: readonly Listed[];
  readonly configFile: string;
  readonly database: string;
  /** what the core says of what plugins from outside add to its config; nothing where no start was tried, or where no plugin runs a core */
  readonly core?: CoreCheckResult | undefined;
}

/** Of others nothing is started: what they do then is their own business. */
function unstarted(plugin: Plugin): Plugin {
  if (!plugin.outside) return plugin;
  const routes: Plugin['routes'] = (scope) => {
    try {
      // A listener of its own is declared in its start.
      return plugin.routes(scope).filter(({ listener }) => listener !== plugin.name);
    } catch (error) {
      // A folder is missing whether the plugin has started or not; what else is missing, its start may make.
      if (error instanceof PluginError || error instanceof StaticFolderError) throw error;
      return [];
    }
  };
  return { ...plugin, routes, start: () => undefined, stop: () => undefined };
}

/** Runs in the rehearsal only, to get hold of what the engine offers. */
const ASKER = 'core-check';

/** Boots what was chosen in a folder that is thrown away, on a database of its own. */
async function rehearse(chosen: Chosen, env: Environment, directory: string) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-check-'));
  const notes: string[] = [];
  const { databaseUrl: _, ...panel } = chosen.file.panel;
  let engine: CoreCheckApi | undefined;
  const asker = definePlugin({
    name: ASKER,
    version: '0.0.0',
    api: KERNEL_API,
    about: 'Asks the core.',
    uses: { check: maybe(CoreCheck) },
    start: ({ check }) => void (engine = check),
  });
  try {
    const kernel = await bootPanel({
      plugins: [...chosen.plugins.map(unstarted), asker],
      leftOut: chosen.leftOut,
      file: { ...chosen.file, panel },
      env: { ...env, WEIR_DATA_DIR: folder, WEIR_DATABASE_URL: '' },
      forCommand: true,
      write: (line) => {
        const { level, msg, variable, ms } = JSON.parse(line) as {
          level: string;
          msg: string;
          variable?: string;
          ms?: number;
        };
        // What took long here says how busy the machine is, and nothing of the panel's start.
        if (level === 'warn' && ms === undefined)
          notes.push(variable === undefined ? msg : `${variable}: ${msg}`);
      },
    });
    const core = await engine?.checkPlugins(directory);
    const states = kernel.plugins().filter(({ name }) => name !== ASKER);
    await kernel.stop('the check has ended');
    return { states, notes: [...new Set(notes)], problems: [], core };
  } catch (error) {
    return {
      states: [],
      notes,
      problems: error instanceof ConfigError ? error.problems : [messageOf(error)],
      core: undefined,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is said of the database, and whether it can be used. */
async function lookAtDatabase(plugins: readonly Plugin[], address: string | undefined, directory: string) {
  try {
    const ran = await ranIn(address, directory);
    if (!ran || ran.length === 0)
      return {
        notes: [`${databaseName(address, directory)} is empty: a start makes its tables`],
        problems: [],
      };
    const pending = pendingOf(plugins, ran);
    const unknown = unknownOf(plugins, ran);
    return {
      notes: [
        ...(pending.length > 0
          ? [
              `a start would migrate the database, after a copy of it where it is a file: ${pending.join(', ')}`,
            ]
          : []),
        ...(unknown.length > 0
          ? [
              `the database has migrations of a newer release, which this one does not know: ${unknown.join(', ')}`,
            ]
          : []),
      ],
      problems: [],
    };
  } catch (error) {
    return { notes: [], problems: [messageOf(error)] };
  }
}

function changed(file: ConfigFile, { add, without }: CheckOptions): ConfigFile {
  const plugins = new Map([...file.plugins].filter(([key]) => key !== without));
  if (add) plugins.set(add.reference, add.entry);
  return { ...file, plugins };
}

/** Tells what a start would come upon; nothing of the panel's is changed, and one that runs is left alone. */
export async function check(options: CheckOptions): Promise<Report> {
  const { env, pluginsOf } = options;
  const directory = dataDirectoryOf(env);
  const file = changed(await readConfigFile(env), options);
  const chosen = await choosePlugins(
    pluginsOf === undefined ? env : { ...env, WEIR_DATA_DIR: pluginsOf },
    file,
    options.add?.reference,
  );
  const rehearsed = await rehearse(chosen, env, directory);
  // The address is the only setting that the rehearsal does without.
  const wrong: string[] = [];
  const address = databaseAddress(env, file, wrong);
  const runs = new Set(rehearsed.states.filter(({ state }) => state !== 'failed').map(({ name }) => name));
  const database =
    wrong.length > 0
      ? { notes: [], problems: wrong }
      : await lookAtDatabase(
          chosen.plugins.filter(({ name }) => runs.has(name)),
          address,
          directory,
        );
  const folder = await folderProblem(directory);
  // Whoever only goes along with what the file switches off is as it should be.
  const along = new Set(chosen.leftOut.filter(({ outside }) => !outside).map(({ name }) => name));
  const failed = rehearsed.states.filter(({ state }) => state === 'failed');
  const listed = ({ name, version, outside }: Listed): Listed => ({ name, version, outside });
  return {
    problems: [...rehearsed.problems, ...(folder === undefined ? [] : [folder]), ...database.problems],
    failed: failed
      .filter(({ name }) => !along.has(name))
      .map((state) => ({ ...listed(state), reason: state.reason })),
    notes: [
      ...rehearsed.notes,
      ...failed.filter(({ name }) => along.has(name)).map(({ reason }) => reason),
      ...database.notes,
    ],
    plugins: rehearsed.states.filter(({ state }) => state !== 'failed').map(listed),
    configFile: file.path,
    database: wrong.length > 0 ? '' : databaseName(address, directory),
    core: rehearsed.core,
  };
}
