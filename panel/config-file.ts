// The config file: boot settings of the panel at its top; below `plugins`, which plugins are enabled, with their boot settings.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf } from '../kernel/errors/errors.js';
import { isObject } from './json-object.js';
import type { Environment, Section } from './variables.js';

export interface PluginEntry {
  readonly on: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  /** the key in the file, if that is not the plugin's name */
  readonly key?: string;
}
export interface ConfigFile {
  readonly path: string;
  /** mistakes in the file, one sentence each */
  readonly problems: readonly string[];
  readonly panel: Readonly<Record<string, unknown>>;
  readonly plugins: ReadonlyMap<string, PluginEntry>;
}
export const DEFAULT_DATA_DIRECTORY = './data';
export const noFile: ConfigFile = { path: '', problems: [], panel: {}, plugins: new Map() };

/** The panel's own settings are at the top of the file. */
export const panelSection = ({ path, panel }: ConfigFile): Section => ({
  values: panel,
  at: (key) => `${key} in ${path}`,
  beside: ['plugins'],
});
export const pluginSection = ({ path, plugins }: ConfigFile, name: string): Section => ({
  values: plugins.get(name)?.config ?? {},
  at: (key) => `plugins.${plugins.get(name)?.key ?? name}.config.${key} in ${path}`,
});

function readPlugin(path: string, name: string, value: unknown, problems: string[]): PluginEntry {
  const where = `plugins.${name} in ${path}`;
  if (typeof value === 'boolean') return { on: value, config: {} };
  if (!isObject(value)) {
    problems.push(`${where} must be true, false or an object with "on" and "config"`);
    return { on: true, config: {} };
  }
  const { on = true, config = {}, ...unknown } = value;
  for (const key of Object.keys(unknown))
    problems.push(
      `plugins.${name}.${key} in ${path} is unknown; use "on" and "config", and put boot settings into "config"`,
    );
  if (typeof on !== 'boolean') problems.push(`plugins.${name}.on in ${path} must be true or false`);
  if (!isObject(config)) problems.push(`plugins.${name}.config in ${path} must be an object`);
  return { on: on !== false, config: isObject(config) ? config : {} };
}

function parse(path: string, text: string): ConfigFile {
  const problems: string[] = [];
  let whole: unknown;
  try {
    whole = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    // The parser's message quotes the file, which may hold a password.
    return {
      ...noFile,
      path,
      problems: [
        `${path} is not valid JSON: ${messageOf(error).replace(/, (?:\.\.\.)?".*$/s, '')}; fix it or remove it`,
      ],
    };
  }
  if (!isObject(whole))
    return { ...noFile, path, problems: [`${path} must hold an object, like {"plugins": {}}`] };
  const { plugins = {}, ...panel } = whole;
  if (!isObject(plugins))
    problems.push(`plugins in ${path} must be an object that maps plugin names to true, false or an object`);
  const entries = Object.entries(isObject(plugins) ? plugins : {}).map(
    ([name, value]) => [name, readPlugin(path, name, value, problems)] as const,
  );
  return { path, problems, panel, plugins: new Map(entries) };
}

/** The folder that WEIR_DATA_DIR names, as an absolute path. */
export const dataDirectoryOf = (env: Environment): string =>
  resolve(env['WEIR_DATA_DIR'] || DEFAULT_DATA_DIRECTORY);
/** The path of the config file, whether it exists or not. */
export const configPath = (env: Environment): string =>
  resolve(env['WEIR_CONFIG'] || join(dataDirectoryOf(env), 'weir.json'));

/** Reads WEIR_CONFIG, or weir.json in the data folder if it exists. Mistakes go to `problems`. */
export async function readConfigFile(env: Environment): Promise<ConfigFile> {
  const chosen = env['WEIR_CONFIG'] || undefined;
  const path = configPath(env);
  try {
    return parse(path, await readFile(path, 'utf8'));
  } catch (error) {
    const missing = ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));
    if (missing && chosen === undefined) return noFile;
    return {
      ...noFile,
      path,
      problems: [
        missing
          ? `WEIR_CONFIG is ${chosen}, but there is no such file; fix the path or unset the variable`
          : `${path} cannot be read: ${messageOf(error)}`,
      ],
    };
  }
}
