// Start order: a plugin starts after those that it uses; ties go by name, so that every log has the same order.
import { KERNEL_API, type Plugin } from '../kernel/plugin/define.js';
import { checkNeeds, checkTokens, PluginError } from '../kernel/plugin/error.js';

const KERNEL = 'kernel';

const thirdPartyOf = (...plugins: readonly (Plugin | undefined)[]): Plugin | undefined =>
  plugins.find((plugin) => plugin?.outside);

/** Names of the plugins that must start before this one. */
const requirements = (plugin: Plugin, names: ReadonlySet<string>): string[] => {
  const owners = Object.values(plugin.uses).map((wanted) =>
    wanted.kind === 'maybe' ? wanted.token.owner : wanted.owner,
  );
  return [...new Set(owners)].filter((owner) => names.has(owner)).sort();
};

/** Throws when plugins need others that are missing. An incomplete set of built-in plugins is a mistake in the config, so all of them are named and the boot ends; an incomplete third-party plugin is the culprit, and is left out. */
function checkPresence(
  plugins: readonly Plugin[],
  names: ReadonlySet<string>,
  leftOutNames: ReadonlySet<string>,
): void {
  const problems: PluginError[] = [];
  // A plugin that could not take the name of another one does not make that one missing.
  const missing = new Set([...leftOutNames].filter((name) => !names.has(name)));
  for (const plugin of plugins)
    try {
      checkNeeds(plugin, missing);
      checkTokens(
        plugin,
        ({ owner }) =>
          owner !== KERNEL && !names.has(owner) && `the plugin ${owner} is not enabled; enable it`,
        thirdPartyOf(plugin),
        ` or disable ${plugin.name}`,
      );
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      problems.push(error);
    }
  const [first] = problems;
  const certain = problems.filter(({ culprit }) => culprit === undefined);
  if (certain.length > 1) throw new PluginError(certain.map(({ message }) => message).join('\n'));
  if (first) throw certain[0] ?? first;
}

/** Checks that the plugins fit this kernel and each other; returns them in start order. `leftOutNames` names plugins that should run but cannot. */
export function orderPlugins(
  plugins: readonly Plugin[],
  leftOutNames: ReadonlySet<string> = new Set(),
): Plugin[] {
  const byName = new Map<string, Plugin>();
  for (const plugin of plugins) {
    if (plugin.api !== KERNEL_API)
      throw new PluginError(
        `plugin ${plugin.name} was written for kernel contract ${plugin.api}; this kernel has ${KERNEL_API}`,
        thirdPartyOf(plugin),
      );
    if (byName.has(plugin.name))
      throw new PluginError(
        `two plugins are called ${plugin.name}`,
        thirdPartyOf(plugin, byName.get(plugin.name)),
      );
    byName.set(plugin.name, plugin);
  }
  const names = new Set(byName.keys());
  checkPresence(plugins, names, leftOutNames);
  const ordered: Plugin[] = [];
  const done = new Set<string>();
  const visit = (plugin: Plugin, path: readonly string[]): void => {
    if (done.has(plugin.name)) return;
    if (path.includes(plugin.name))
      throw new PluginError(
        `plugins use each other in a circle: ${[...path.slice(path.indexOf(plugin.name)), plugin.name].join(' → ')}; let the lower one own a hook instead`,
        thirdPartyOf(plugin, ...path.map((name) => byName.get(name))),
      );
    for (const name of requirements(plugin, names)) visit(byName.get(name) as Plugin, [...path, plugin.name]);
    done.add(plugin.name);
    ordered.push(plugin);
  };
  for (const name of [...names].sort()) visit(byName.get(name) as Plugin, []);
  return ordered;
}
