// Which plugins are on: those of the preset, more or fewer by the config file.
import { readFile } from 'node:fs/promises';
import type { ConfigFile } from '../config/file.js';
import type { Environment } from '../config/load.js';
import { DEFAULT_PRESET, presets } from '../config/panel.js';
import type { Plugin } from './define.js';
import { findPlugin } from './find.js';
import { PluginError } from './order.js';

const PRESETS = new URL('../../../config/presets/', import.meta.url);
/** In a preset: everything of another one. */
const ANOTHER = /^preset:(.+)$/;

export async function readPreset(name: string): Promise<string[]> {
  const entries = JSON.parse(await readFile(new URL(`${name}.json`, PRESETS), 'utf8')) as string[];
  const lists = entries.map((entry) => {
    const other = ANOTHER.exec(entry)?.[1];
    return other === undefined ? [entry] : readPreset(other);
  });
  return [...new Set((await Promise.all(lists)).flat())];
}

/** Which plugins run. What cannot be found is added to the problems of the file, to be reported with all others. */
export async function choosePlugins(env: Environment, file: ConfigFile): Promise<{ plugins: Plugin[]; file: ConfigFile }> {
  const problems = [...file.problems];
  const find = (name: string): Promise<Plugin | undefined> =>
    findPlugin(name).catch((error: unknown) => {
      if (!(error instanceof PluginError)) throw error;
      problems.push(file.plugins.has(name) ? `${error.message} (plugins.${name} in ${file.path})` : error.message);
      return undefined;
    });
  const preset = env['WEIR_PRESET'] || file.panel['preset'];
  // A name that is none is reported with the other boot settings.
  const names = new Set(await readPreset(presets.find((known) => known === preset) ?? DEFAULT_PRESET));
  for (const [name, { on }] of file.plugins) {
    if (on) names.add(name);
    else {
      names.delete(name);
      // One that cannot even be loaded may be off for just that reason.
      const plugin = await find(name).catch(() => undefined);
      if (plugin?.essential) problems.push(`plugins.${name} in ${file.path}: the panel does not start without the plugin ${name}; it cannot be switched off`);
    }
  }
  const plugins = await Promise.all([...names].map(find));
  return { plugins: plugins.filter((plugin) => plugin !== undefined), file: { ...file, problems } };
}
