// Disables the plugins that need one which the config file disables, if only the preset asked for them.
import type { Plugin } from '../kernel/plugin/define.js';
import type { LeftOut } from '../kernel/plugin/plugins.js';
import type { ConfigFile } from './config-file.js';

/** Names of the plugins that this one cannot run without. */
export const needsOf = ({ uses }: Plugin): string[] => [
  ...new Set(Object.values(uses).flatMap((used) => (used.kind === 'token' ? [used.owner] : []))),
];

/** Names of the built-in plugins that the file itself enables, and of all that they need. */
function wantedBy(file: ConfigFile, plugins: readonly Plugin[]): Set<string> {
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const wanted = new Set(
    plugins.filter(({ name, outside }) => !outside && file.plugins.has(name)).map(({ name }) => name),
  );
  // A set hands out what is added while it is walked.
  for (const name of wanted) {
    const plugin = byName.get(name);
    for (const needed of plugin ? needsOf(plugin) : []) if (byName.has(needed)) wanted.add(needed);
  }
  return wanted;
}

/** Splits the plugins into those that stay and those that are disabled. A plugin that is essential, or that the file itself enables, stays with all that it needs: that contradiction is reported later. */
export function disableDependents(
  plugins: readonly Plugin[],
  file: ConfigFile,
): { readonly plugins: Plugin[]; readonly leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const why = new Map(
    [...file.plugins]
      .filter(([, { on }]) => !on)
      .map(([name]) => [name, `which plugins.${name} in ${file.path} disables; enable it`]),
  );
  const wanted = wantedBy(file, plugins);
  let staying = [...plugins];
  for (let before = -1; before !== staying.length; ) {
    before = staying.length;
    staying = staying.filter((plugin) => {
      const { name, version, about, essential, outside = false } = plugin;
      const missing = needsOf(plugin).find((needed) => why.has(needed));
      if (missing === undefined || essential || outside || wanted.has(name)) return true;
      leftOut.push({
        name,
        version,
        about,
        outside,
        reason: `plugin ${name} needs the plugin ${missing}, ${why.get(missing)}, or disable ${name} as well`,
      });
      why.set(name, `which is left out because of the plugin ${missing}; fix that one first`);
      return false;
    });
  }
  return { plugins: staying, leftOut };
}
