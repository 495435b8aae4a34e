import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { configure } from '../../kernel/config/configure.js';
import { readConfigFile } from '../../kernel/config/file.js';
import { panelVariables } from '../../kernel/config/panel.js';
import { choosePlugins, readPreset } from '../../kernel/plugin/choose.js';
import { findPlugins } from '../../kernel/plugin/find.js';
import { sourceRoot } from '../harness/source-root.js';

interface Described {
  readonly variable: string;
  readonly default: string;
  readonly about: string;
}

test('docs/environment.md names every variable with its default and purpose, and no other', async (t) => {
  const plugins = await findPlugins(await readPreset('full'));
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

test('the config file that docs/environment.md shows is a good one', async (t) => {
  const shown = /```json\n([^`]+)```/.exec(await readFile(new URL('docs/environment.md', await sourceRoot()), 'utf8'))?.[1] ?? 'no example';
  const folder = await mkdtemp(join(tmpdir(), 'weir-docs-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'shown.json');
  await writeFile(path, shown);
  const env = { WEIR_CONFIG: path };
  const { plugins, file } = await choosePlugins(env, await readConfigFile(env));
  const { panel, configs } = await configure(plugins, env, file);
  t.like(panel, { preset: 'minimal', host: '::1' });
  t.like(configs.get('subscription')?.values, { port: 8443, publicHost: 'vpn.example.com' });
  t.true(plugins.some(({ name }) => name === 'sub-links'));
});
