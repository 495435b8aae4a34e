// Finds plugins by name in the source tree. Imports only what the configuration names.
import { access } from 'node:fs/promises';
import { KERNEL_API, type Plugin } from '../kernel/plugin/define.js';
import { PluginError } from '../kernel/plugin/error.js';

const FOLDER = new URL('../plugins/', import.meta.url);
const NAME = /^[a-z][a-z0-9-]*$/;

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' && value !== null && 'name' in value && 'api' in value && 'services' in value;

export async function findPlugin(name: string): Promise<Plugin> {
  if (!NAME.test(name))
    throw new PluginError(`"${name}" is not a valid plugin name; use lower-case letters, digits and hyphens`);
  const entry = new URL(`${name}/index.js`, FOLDER);
  await access(entry).catch(() => {
    throw new PluginError(`there is no plugin ${name}: plugins/${name}/index is missing`);
  });
  const { default: plugin } = (await import(entry.href)) as { default?: unknown };
  if (!isPlugin(plugin))
    throw new PluginError(
      `plugins/${name}/index has no default export made by definePlugin (kernel contract ${KERNEL_API})`,
    );
  if (plugin.name !== name)
    throw new PluginError(`plugins/${name} declares the name ${plugin.name}; folder and name must match`);
  return plugin;
}

export const findPlugins = (names: readonly string[]): Promise<Plugin[]> =>
  Promise.all(names.map(findPlugin));
