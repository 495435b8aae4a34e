// Adds a third-party plugin: the package to the data folder, and its name to the config file. Does both or neither.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CheckOptions } from './check.js';
import { type Check, checkInChild } from './check-in-child.js';
import { configPath, dataDirectoryOf, type PluginEntry, readConfigFile } from './config-file.js';
import { editPlugins } from './edit-config.js';
import { folderProblem } from './inspect-data.js';
import { type Manifest, pluginOfPackage, readManifest } from './manifest.js';
import { pack } from './npm.js';
import { placesOf } from './third-party.js';
import { forgetPluginExits } from './plugin-exits.js';
import type { Environment } from './variables.js';
import { installedIn, StagedPlugins } from './staged-plugins.js';

export interface Added {
  readonly name: string;
  readonly version: string;
  readonly reference: string;
  readonly configFile: string;
  /** the version that was installed before */
  readonly previous: string | undefined;
  /** the config file already named it */
  readonly wasNamed: boolean;
  /** why the core did not test the plugin's additions to its config; empty when it did */
  readonly untried: string;
}
type Config = PluginEntry['config'];

/** Undefined where nothing is. */
const isFolder = (path: string): Promise<boolean | undefined> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => undefined,
  );

/** Checks that the panel would start with the plugin, that no running plugin would be left out, and that the core accepts what it adds. Returns why no core was asked; empty when one was. */
async function mustStart(
  check: Check,
  options: CheckOptions,
  name: string,
  reference: string,
): Promise<string> {
  const { problems, failed, core } = await check(options);
  if (problems.length > 0) throw new Error(`with it the panel would not start: ${problems.join('; ')}`);
  const own = failed.find((plugin) => plugin.name === name || plugin.name === reference);
  if (own) throw new Error(own.reason);
  const refusal = core?.refused.find(({ plugin }) => plugin === name);
  if (refusal) throw new Error(refusal.reason);
  const untried = core?.missing ?? '';
  if (failed.length === 0) return untried;
  const before = await check({ env: options.env });
  const hit = failed.filter(({ name: other }) => !before.failed.some((known) => known.name === other));
  if (hit.length > 0)
    throw new Error(`with it others would be left out: ${hit.map(({ reason }) => reason).join('; ')}`);
  return untried;
}

interface Place {
  readonly env: Environment;
  readonly directory: string;
  readonly file: Awaited<ReturnType<typeof readConfigFile>>;
  readonly config: Config | undefined;
  readonly check: Check;
}

async function checkAndName(
  { env, file, config, check }: Place,
  reference: string,
  manifest: Manifest,
  pluginsOf?: string,
) {
  const known = file.plugins.get(reference);
  const entry: PluginEntry = { on: true, config: config ?? known?.config ?? {} };
  const untried = await mustStart(
    check,
    { env, add: { reference, entry }, pluginsOf },
    manifest.name,
    reference,
  );
  const edited = await editPlugins(configPath(env), (plugins) => {
    const { on: _, ...previous } =
      typeof plugins[reference] === 'object' ? (plugins[reference] as Record<string, unknown>) : {};
    const next = { ...previous, ...(config !== undefined && { config }) };
    return { ...plugins, [reference]: Object.keys(next).length > 0 ? next : true };
  });
  return { ...edited, untried };
}

/** A folder stays where it is; the config file holds its path. */
async function addFolder(place: Place, folder: string): Promise<Added> {
  const { env, file } = place;
  const places = placesOf(env, file.path);
  const named = [...file.plugins.keys()].find(
    (key) => key.startsWith('path:') && resolve(places.base, key.slice('path:'.length)) === folder,
  );
  const reference = named ?? `path:${folder}`;
  const manifest = await readManifest(reference, places);
  const { path, untried } = await checkAndName(place, reference, manifest);
  return {
    ...manifest,
    reference,
    configFile: path,
    previous: named && manifest.version,
    wasNamed: file.plugins.get(reference)?.on === true,
    untried,
  };
}

async function addPackage(place: Place, spec: string): Promise<Added> {
  const { file, directory } = place;
  const staged = await StagedPlugins.open(directory);
  try {
    const packed = await pack(spec, staged.folder);
    if (pluginOfPackage(packed.name) === undefined)
      throw new Error(
        `${spec} is a package called ${packed.name}; plugin packages are called weir-plugin-<name> or @scope/weir-plugin-<name>`,
      );
    const reference = `npm:${packed.name}`;
    const wasThere = packed.name in (await installedIn(directory));
    const previous = wasThere
      ? await readManifest(reference, { dataDirectory: directory, base: directory }).catch(() => undefined)
      : undefined;
    await staged.install(packed);
    const manifest = await readManifest(reference, { dataDirectory: staged.folder, base: staged.folder });
    const edited = await checkAndName(place, reference, manifest, staged.folder);
    await staged.commit().catch(async (error: unknown) => {
      await edited.undo();
      throw error;
    });
    return {
      ...manifest,
      reference,
      configFile: edited.path,
      previous: previous?.version,
      wasNamed: file.plugins.get(reference)?.on === true,
      untried: edited.untried,
    };
  } finally {
    await staged.close();
  }
}

/** `spec` is a folder, `path:folder`, or whatever npm accepts: a name with or without version, a file, a URL. Rejects with a sentence; then nothing has changed. */
export async function addPlugin(
  spec: string,
  env: Environment,
  config?: Config,
  check: Check = checkInChild,
): Promise<Added> {
  const directory = dataDirectoryOf(env);
  const problem = await folderProblem(directory);
  if (problem !== undefined) throw new Error(problem);
  const place: Place = { env, directory, file: await readConfigFile(env), config, check };
  if (place.file.problems.length > 0) throw new Error(place.file.problems.join('; '));
  const folder = resolve(spec.replace(/^path:/, ''));
  // A name may match both a package and a local folder; like npm, prefer the package.
  const found = /^[./~]/.test(spec) ? await isFolder(folder) : false;
  if (found === undefined)
    throw new Error(`${folder} does not exist; name the folder or the .tgz file of a plugin`);
  const isPath = spec.startsWith('path:') || found;
  const added = await (isPath ? addFolder(place, folder) : addPackage(place, spec.replace(/^npm:/, '')));
  forgetPluginExits(directory, [added.name]);
  return added;
}
