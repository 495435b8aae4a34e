// What is in the config file and on the disk, but not in the panel that runs: plugins from outside that were added, updated or
// taken out since it read them.
import type { PluginState } from '../kernel/plugin/plugins.js';
import type { ListedPlugin } from '../plugins/system/contract.js';
import { readConfigFile } from './config-file.js';
import { isOutside, readManifest } from './manifest.js';
import { importedFrom, placesOf } from './outside.js';
import type { Environment } from './variables.js';

interface Waiting {
  readonly name: string;
  /** that a restart would run; empty when it would not run any more */
  readonly version: string;
  readonly reason: string;
}

const ADDED = 'it was added, and runs when the panel is started again';
const GONE = 'it was taken out of the config file, and runs until the panel is started again';

/** `running` are the plugins as the kernel sees them. What cannot be read is left to the next start. */
async function waitingFor(env: Environment, running: readonly PluginState[]): Promise<Waiting[]> {
  const file = await readConfigFile(env).catch(() => undefined);
  if (!file || (file.problems.length > 0 && file.plugins.size === 0)) return [];
  const states = new Map(running.map((plugin) => [plugin.name, plugin]));
  const named = [...file.plugins].filter(([key]) => isOutside(key));
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
            ? 'its files have changed since they were read; restart the process of the panel to run them'
            : `version ${version} is there, and version ${known.version} was read; restart the process of the panel to run the new one`,
      },
    ];
  });
  // What cannot be read may be any of them.
  if (read.some(({ manifest }) => manifest === undefined)) return changed;
  const kept = new Set(found.map(({ name }) => name));
  const gone = running.filter(({ name, outside }) => outside && !kept.has(name));
  return [...changed, ...gone.map(({ name }) => ({ name, version: '', reason: GONE }))];
}

/** These plugins, with what a restart would make of them, and those that it would add. */
export async function listed(env: Environment, plugins: readonly PluginState[]): Promise<ListedPlugin[]> {
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
