// Lists changes that wait for a restart: third-party plugins that were added, updated or removed since the running
// panel read the config file and the disk.
import type { PluginState } from '../kernel/plugin/plugins.js';
import type { ListedPlugin } from '../plugins/system/contract.js';
import { readConfigFile } from './config-file.js';
import { isThirdParty, readManifest } from './manifest.js';
import { importedFrom, placesOf } from './third-party.js';
import type { Environment } from './variables.js';

interface Waiting {
  readonly name: string;
  /** version that a restart would run; empty when a restart would not run the plugin */
  readonly version: string;
  readonly reason: string;
}

const ADDED = 'it was added and runs after the next restart';
const GONE = 'it was removed from the config file and runs until the next restart';

/** `running` are the plugins that the kernel reports. What cannot be read is left to the next start. */
async function waitingFor(env: Environment, running: readonly PluginState[]): Promise<Waiting[]> {
  const file = await readConfigFile(env).catch(() => undefined);
  if (!file || (file.problems.length > 0 && file.plugins.size === 0)) return [];
  const states = new Map(running.map((plugin) => [plugin.name, plugin]));
  const named = [...file.plugins].filter(([key]) => isThirdParty(key));
  const read = await Promise.all(
    named.map(async ([key, { on }]) => ({
      on,
      manifest: await readManifest(key, placesOf(env, file.path)).catch(() => undefined),
    })),
  );
  const found = read.flatMap(({ on, manifest }) => (on && manifest ? [manifest] : []));
  const changed = found.flatMap(({ name, version, folder, stamp }): Waiting[] => {
    const state = states.get(name);
    if (!state) return [{ name, version, reason: ADDED }];
    const known = importedFrom(folder);
    if (!known || known.stamp === stamp) return [];
    return [
      {
        name,
        version,
        reason:
          version === known.version
            ? 'its files have changed since they were loaded; restart the process of the panel to run them'
            : `version ${version} is installed, but version ${known.version} is loaded; restart the process of the panel to run the new one`,
      },
    ];
  });
  // An unreadable manifest may belong to any of them.
  if (read.some(({ manifest }) => manifest === undefined)) return changed;
  const kept = new Set(found.map(({ name }) => name));
  const gone = running.filter(({ name, outside }) => outside && !kept.has(name));
  return [...changed, ...gone.map(({ name }) => ({ name, version: '', reason: GONE }))];
}

/** These plugins, each with its pending change, and those that a restart would add. */
export async function listPlugins(
  env: Environment,
  plugins: readonly PluginState[],
): Promise<ListedPlugin[]> {
  const left = new Map((await waitingFor(env, plugins)).map((waiting) => [waiting.name, waiting]));
  const known = plugins.map((plugin): ListedPlugin => {
    const found = left.get(plugin.name);
    left.delete(plugin.name);
    const reason = [plugin.reason, found?.reason ?? ''].filter((text) => text !== '').join('; ');
    return { ...plugin, reason, waiting: found?.version ?? '' };
  });
  const added = [...left.values()].map(
    ({ name, version, reason }): ListedPlugin => ({
      name,
      version: '',
      about: '',
      outside: true,
      state: 'waiting',
      reason,
      waiting: version,
    }),
  );
  return [...known, ...added];
}
