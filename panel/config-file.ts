// Reads the config file.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ConfigFile, DEFAULT_DATA_DIRECTORY, noFile, type PluginEntry } from '../kernel/config/file.js';
import type { Environment } from '../kernel/config/load.js';
import { messageOf } from '../kernel/errors/errors.js';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function readPlugin(path: string, name: string, value: unknown, problems: string[]): PluginEntry {
  const where = `plugins.${name} in ${path}`;
  if (typeof value === 'boolean') return { on: value, config: {} };
  if (!isObject(value)) {
    problems.push(`${where} must be true, false or an object with "on" and "config"`);
    return { on: true, config: {} };
  }
  const { on = true, config = {}, ...unknown } = value;
  for (const key of Object.keys(unknown))
    problems.push(`plugins.${name}.${key} in ${path} is unknown; there are "on" and "config", and boot settings belong into "config"`);
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
    // The message quotes the file, where a password may stand.
    return { ...noFile, path, problems: [`${path} is no JSON: ${messageOf(error).replace(/, (?:\.\.\.)?".*$/s, '')}; correct it or remove it`] };
  }
  if (!isObject(whole)) return { ...noFile, path, problems: [`${path} must hold an object, like {"plugins": {}}`] };
  const { plugins = {}, ...panel } = whole;
  if (!isObject(plugins)) problems.push(`plugins in ${path} must be an object from names of plugins to true, false or an object`);
  const entries = Object.entries(isObject(plugins) ? plugins : {}).map(([name, value]) => [name, readPlugin(path, name, value, problems)] as const);
  return { path, problems, panel, plugins: new Map(entries) };
}

/** WEIR_CONFIG, or weir.json in the data folder where it is there. What is wrong with it is in `problems`. */
export async function readConfigFile(env: Environment): Promise<ConfigFile> {
  const chosen = env['WEIR_CONFIG'] || undefined;
  const path = resolve(chosen ?? join(env['WEIR_DATA_DIR'] || DEFAULT_DATA_DIRECTORY, 'weir.json'));
  try {
    return parse(path, await readFile(path, 'utf8'));
  } catch (error) {
    const missing = ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));
    if (missing && chosen === undefined) return noFile;
    return {
      ...noFile,
      path,
      problems: [missing ? `WEIR_CONFIG is ${chosen}, but there is no such file; correct it or leave it out` : `${path} cannot be read: ${messageOf(error)}`],
    };
  }
}
