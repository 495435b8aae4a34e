import { readFile } from 'node:fs/promises';
import test from 'ava';
import { panelVariables } from '../../kernel/config/panel.js';
import { readPreset } from '../../kernel/main.js';
import { findPlugins } from '../../kernel/plugin/find.js';
import { sourceRoot } from '../harness/source-root.js';

interface Described {
  readonly variable: string;
  readonly default: string;
  readonly about: string;
}

test('docs/environment.md names every variable with its default and purpose, and no other', async (t) => {
  const plugins = await findPlugins(await readPreset('standard'));
  const declared = [panelVariables, ...plugins.map(({ config }) => config)].flatMap((variables) =>
    Object.values(variables).map(({ variable, schema, about }): Described => {
      const flags = (schema.describe() as { flags?: { default?: unknown } }).flags;
      return { variable, about, default: flags?.default === undefined ? '' : String(flags.default) };
    }),
  );
  const text = await readFile(new URL('docs/environment.md', await sourceRoot()), 'utf8');
  const rows = [...text.matchAll(/^\| `(WEIR_\w+)` \| (?:`([^`]*)`)? ?\| (.*) \|$/gm)].map(([, variable = '', byDefault = '', about = '']): Described => ({ variable, default: byDefault, about }));
  const sorted = (list: readonly Described[]) => [...list].sort((a, b) => a.variable.localeCompare(b.variable));
  t.deepEqual(sorted(rows), sorted(declared));
});
