// Chooses which plugins run: those of the preset, changed by the config file, and the third-party plugins it names.
import { access, readFile } from 'node:fs/promises';
import type { Plugin } from '../kernel/plugin/define.js';
import type { LeftOut } from '../kernel/plugin/plugins.js';
import { PluginError } from '../kernel/plugin/error.js';
import { DEFAULT_PRESET, presets } from './boot-settings.js';
import { type ConfigFile, dataDirectoryOf, type PluginEntry } from './config-file.js';
import { findPlugin } from './find-plugins.js';
import { disableDependents } from './disable-dependents.js';
import { isThirdParty, type Manifest, nameIn, readManifest } from './manifest.js';
import { loadThirdParty, placesOf } from './third-party.js';
import { repeatedExits } from './plugin-exits.js';
import type { Environment } from './variables.js';

const BUILT_IN = new URL('../plugins/', import.meta.url);
const PRESETS = new URL('../../config/presets/', import.meta.url);
/** In a preset: includes another preset. */
const ANOTHER = /^preset:(.+)$/;

export async function readPreset(name: string): Promise<string[]> {
  const entries = JSON.parse(await readFile(new URL(`${name}.json`, PRESETS), 'utf8')) as string[];
  const lists = entries.map((entry) => {
    const other = ANOTHER.exec(entry)?.[1];
    return other === undefined ? [entry] : readPreset(other);
  });
  return [...new Set((await Promise.all(lists)).flat())];
}

export interface Chosen {
  readonly plugins: Plugin[];
  readonly file: ConfigFile;
  /** plugins that cannot be used, or that are disabled together with one they need */
  readonly leftOut: LeftOut[];
}

export const isBuiltIn = (name: string): Promise<boolean> =>
  access(new URL(`${name}/index.js`, BUILT_IN)).then(
    () => true,
    () => false,
  );

/** Loads the plugins that the file names by path or package. From here on their sections go by plugin name; a plugin that cannot be used is left out. */
async function chooseThirdParty(env: Environment, file: ConfigFile, forgiven?: string): Promise<Chosen> {
  const sections = new Map<string, PluginEntry>([...file.plugins].filter(([key]) => !isThirdParty(key)));
  const plugins: Plugin[] = [];
  const leftOut: LeftOut[] = [];
  for (const [reference, entry] of [...file.plugins].filter(([key, { on }]) => isThirdParty(key) && on)) {
    let manifest: Manifest | undefined;
    try {
      manifest = await readManifest(reference, placesOf(env, file.path));
      const { name } = manifest;
      if (name === 'kernel' || (await isBuiltIn(name)))
        throw new PluginError(
          `the plugin ${reference} is called ${name}, like a built-in plugin; its author must rename it`,
        );
      if (sections.has(name))
        throw new PluginError(
          `the plugin ${reference} is called ${name}, like another one in ${file.path}; remove one of them`,
        );
      sections.set(name, { ...entry, key: reference });
      const against =
        reference === forgiven ? undefined : repeatedExits(dataDirectoryOf(env), name, manifest.stamp);
      if (against !== undefined) throw new PluginError(against);
      plugins.push(await loadThirdParty(reference, manifest));
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      leftOut.push({
        name: manifest?.name ?? nameIn(reference),
        version: manifest?.version ?? '',
        about: '',
        outside: true,
        reason: error.message,
        ...(error.cause !== undefined && { error: error.cause }),
      });
    }
  }
  return { plugins, file: { ...file, plugins: sections }, leftOut };
}

/** Chooses the plugins. Adds what cannot be found to the problems of the file, so that all are reported together. `forgiven` is the reference of a plugin to try although it has ended the process before. */
export async function choosePlugins(
  env: Environment,
  configFile: ConfigFile,
  forgiven?: string,
): Promise<Chosen> {
  const outside = await chooseThirdParty(env, configFile, forgiven);
  const { file } = outside;
  const problems = [...file.problems];
  const find = (name: string): Promise<Plugin | undefined> =>
    findPlugin(name).catch((error: unknown) => {
      if (!(error instanceof PluginError)) throw error;
      problems.push(
        file.plugins.has(name) ? `${error.message} (plugins.${name} in ${file.path})` : error.message,
      );
      return undefined;
    });
  const preset = env['WEIR_PRESET'] || file.panel['preset'];
  // An invalid preset name is reported with the other boot settings.
  const names = new Set(await readPreset(presets.find((known) => known === preset) ?? DEFAULT_PRESET));
  for (const [name, { on, key }] of file.plugins) {
    if (key !== undefined) continue;
    if (on) names.add(name);
    else {
      names.delete(name);
      // A plugin that cannot be loaded may be disabled for that very reason.
      const plugin = await find(name).catch(() => undefined);
      if (plugin?.essential)
        problems.push(
          `plugins.${name} in ${file.path}: the panel cannot start without the plugin ${name}; set it to true or remove the entry`,
        );
    }
  }
  const plugins = await Promise.all([...names].map(find));
  const builtIn = disableDependents(
    plugins.filter((plugin) => plugin !== undefined),
    file,
  );
  return {
    plugins: [...builtIn.plugins, ...outside.plugins],
    file: { ...file, problems },
    leftOut: [...builtIn.leftOut, ...outside.leftOut],
  };
}
