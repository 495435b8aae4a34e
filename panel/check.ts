// Dry run: reports everything a start would find, without the panel's database, ports and core.
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
import { type Chosen, choosePlugins } from './choose-plugins.js';
import { type ConfigFile, dataDirectoryOf, type PluginEntry, readConfigFile } from './config-file.js';
import {
  databaseAddress,
  databaseName,
  diskNote,
  folderProblem,
  pendingOf,
  appliedMigrations,
  unknownOf,
} from './inspect-data.js';
import { ConfigError, type Environment } from './variables.js';

export interface CheckOptions {
  readonly env: Environment;
  /** a plugin that the config file does not name yet: its reference and its entry */
  readonly add?: { readonly reference: string; readonly entry: PluginEntry } | undefined;
  /** a plugin to leave out of the config file */
  readonly without?: string | undefined;
  /** the data folder whose `plugins/` is used, if not the panel's own */
  readonly pluginsOf?: string | undefined;
}

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly outside: boolean;
}
export interface Report {
  /** what prevents the start, one sentence each */
  readonly problems: readonly string[];
  /** plugins that should run but would not, with the reason */
  readonly failed: readonly (Listed & { readonly reason: string })[];
  readonly notes: readonly string[];
  /** plugins that would run */
  readonly plugins: readonly Listed[];
  readonly configFile: string;
  readonly database: string;
  /** the core's opinion of what third-party plugins add to its config; absent where no start was rehearsed or no plugin runs a core */
  readonly core?: CoreCheckResult | undefined;
}

/** Third-party plugins are not started: what their start does is not ours to run. */
export function unstarted(plugin: Plugin): Plugin {
  if (!plugin.outside) return plugin;
  const routes: Plugin['routes'] = (scope) => {
    try {
      // A plugin declares its own listener in its start.
      return plugin.routes(scope).filter(({ listener }) => listener !== plugin.name);
    } catch (error) {
      // A folder is missing whether the plugin has started or not; what else is missing, its start may make.
      if (error instanceof PluginError || error instanceof StaticFolderError) throw error;
      return [];
    }
  };
  return { ...plugin, routes, start: () => undefined, stop: () => undefined };
}

/** Runs in the rehearsal only, to get hold of the engine. */
const ASKER = 'core-check';

/** Boots the chosen plugins in a temporary folder, on a database of its own. */
async function rehearse(chosen: Chosen, env: Environment, directory: string) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-check-'));
  const notes: string[] = [];
  const { databaseUrl: _, ...panel } = chosen.file.panel;
  let engine: CoreCheckApi | undefined;
  const asker = definePlugin({
    name: ASKER,
    version: '0.0.0',
    api: KERNEL_API,
    about: 'Tests the config with the core.',
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
        // A slow start here shows how busy the machine is, and says nothing about the panel's start.
        if (level === 'warn' && ms === undefined)
          notes.push(variable === undefined ? msg : `${variable}: ${msg}`);
      },
    });
    const core = await engine?.checkPlugins(directory);
    const states = kernel.plugins().filter(({ name }) => name !== ASKER);
    await kernel.stop('the check is over');
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

/** Describes the database, and whether it can be used. */
async function lookAtDatabase(plugins: readonly Plugin[], address: string | undefined, directory: string) {
  try {
    const ran = await appliedMigrations(address, directory);
    if (!ran || ran.length === 0)
      return {
        notes: [`${databaseName(address, directory)} is empty: a start creates its tables`],
        problems: [],
      };
    const pending = pendingOf(plugins, ran);
    const unknown = unknownOf(plugins, ran);
    return {
      notes: [
        ...(pending.length > 0
          ? [`a start would migrate the database (and copy a SQLite file first): ${pending.join(', ')}`]
          : []),
        ...(unknown.length > 0
          ? [`a newer release has migrated the database; this one does not know: ${unknown.join(', ')}`]
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

/** Reports what a start would find. Changes nothing of the panel, and leaves a running one alone. */
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
  // The address is the only setting that the rehearsal does not use.
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
  const disk = await diskNote(directory);
  // A plugin disabled together with one it needs is not a problem.
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
      ...(disk === undefined ? [] : [disk]),
    ],
    plugins: rehearsed.states.filter(({ state }) => state !== 'failed').map(listed),
    configFile: file.path,
    database: wrong.length > 0 ? '' : databaseName(address, directory),
    core: rehearsed.core,
  };
}
