import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { panelVariables } from '../../panel/boot-settings.js';
import { choosePlugins, readPreset } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { configure } from '../../panel/configure.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { sourceRoot } from '../harness/source-root.js';

interface Described {
  readonly variable: string;
  readonly default: string;
  readonly about: string;
}

async function everyVariable(): Promise<Described[]> {
  const plugins = await findPlugins(await readPreset('full'));
  return [panelVariables, ...plugins.map(({ config }) => config)].flatMap((variables) =>
    Object.values(variables).map(({ variable, schema, about }): Described => {
      const flags = (schema.describe() as { flags?: { default?: unknown } }).flags;
      return { variable, about, default: flags?.default === undefined ? '' : String(flags.default) };
    }),
  );
}

test('docs/environment.md names every variable with its default and purpose, and no other', async (t) => {
  const declared = await everyVariable();
  const text = await readFile(new URL('docs/environment.md', await sourceRoot()), 'utf8');
  const rows = [...text.matchAll(/^\| `(WEIR_\w+)` \| (?:`([^`]*)`)? ?\| (.*) \|$/gm)].map(
    ([, variable = '', byDefault = '', about = '']): Described => ({ variable, default: byDefault, about }),
  );
  const sorted = (list: readonly Described[]) =>
    [...list].sort((a, b) => a.variable.localeCompare(b.variable));
  t.deepEqual(sorted(rows), sorted(declared));
});

test('the config file that docs/environment.md shows is a good one', async (t) => {
  const shown =
    /```json\n([^`]+)```/.exec(
      await readFile(new URL('docs/environment.md', await sourceRoot()), 'utf8'),
    )?.[1] ?? 'no example';
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

test('no page names a variable that nobody reads', async (t) => {
  const known = new Set((await everyVariable()).map(({ variable }) => variable));
  const root = await sourceRoot();
  const pages = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    ...(await readdir(new URL('docs/', root), { recursive: true })).map((page) => `docs/${page}`),
    ...(await readdir(new URL('plugins/', root))).map((plugin) => `plugins/${plugin}/README.md`),
  ];
  for (const page of pages.filter((name) => name.endsWith('.md'))) {
    const text = await readFile(new URL(page, root), 'utf8').catch(() => '');
    t.deepEqual(
      [...text.matchAll(/WEIR_[A-Z0-9_]+/g)]
        .map(([name]) => name)
        .filter((name) => !known.has(name) && !/^WEIR_(?:TEST|X)_/.test(name)),
      [],
      page,
    );
  }
});
