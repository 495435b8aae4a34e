// Who goes along when the config file switches a plugin off: what only the preset asked for, and what cannot be without it.
import type { Plugin } from '../kernel/plugin/define.js';
import type { LeftOut } from '../kernel/plugin/plugins.js';
import type { ConfigFile } from './config-file.js';

/** Names of the plugins that this one does not run without. */
export const needsOf = ({ uses }: Plugin): string[] => [
  ...new Set(Object.values(uses).flatMap((used) => (used.kind === 'token' ? [used.owner] : []))),
];

/** Those that stay, and those that go along. Whom the file itself switches on, and who is essential, stays: that is a contradiction to report. */
export function goAlong(
  plugins: readonly Plugin[],
  file: ConfigFile,
): { readonly plugins: Plugin[]; readonly leftOut: LeftOut[] } {
  const leftOut: LeftOut[] = [];
  const why = new Map(
    [...file.plugins]
      .filter(([, { on }]) => !on)
      .map(([name]) => [name, `which plugins.${name} in ${file.path} switches off; switch it on`]),
  );
  let staying = [...plugins];
  for (let before = -1; before !== staying.length; ) {
    before = staying.length;
    staying = staying.filter((plugin) => {
      const { name, version, about, essential, outside = false } = plugin;
      const missing = needsOf(plugin).find((needed) => why.has(needed));
      if (missing === undefined || essential || outside || file.plugins.has(name)) return true;
      leftOut.push({
        name,
        version,
        about,
        outside,
        reason: `plugin ${name} needs the plugin ${missing}, ${why.get(missing)}, or switch ${name} off as well`,
      });
      why.set(name, `which is left out because of the plugin ${missing}; mend that one first`);
      return false;
    });
  }
  return { plugins: staying, leftOut };
}
