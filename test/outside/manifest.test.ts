import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { isThirdParty, nameIn, readManifest } from '../../panel/manifest.js';
import { PluginError } from '../../kernel/plugin/error.js';
import { folderOf, thirdParty, writeFiles } from './third-party.js';

test('a manifest says name, version and module, wherever exports or main have it', async (t) => {
  const folder = await folderOf(t);
  const places = { dataDirectory: folder, base: folder };
  for (const entry of [
    { exports: './index.js' },
    { exports: { '.': './index.js' } },
    { exports: { '.': { types: './x.d.ts', import: './index.js' }, './package.json': './package.json' } },
    { exports: { default: './index.js' } },
    { exports: undefined, main: 'index.js' },
  ]) {
    await thirdParty(folder, 'sundial', '', entry);
    t.like(
      await readManifest('path:sundial', places),
      {
        name: 'sundial',
        version: '1.2.3',
        entry: join(folder, 'sundial', 'index.js'),
        folder: join(folder, 'sundial'),
      },
      JSON.stringify(entry),
    );
  }
  t.is(
    (await readManifest(`path:${join(folder, 'sundial')}`, { dataDirectory: '/nowhere', base: '/nowhere' }))
      .name,
    'sundial',
  );
});

test('npm: is found in the plugins of the data folder, with a scope as well', async (t) => {
  const folder = await folderOf(t);
  const modules = join(folder, 'plugins', 'node_modules');
  await thirdParty(modules, 'weir-plugin-sundial', '', { name: 'weir-plugin-sundial' });
  await thirdParty(join(modules, '@acme'), 'weir-plugin-moon', '', { name: '@acme/weir-plugin-moon' });
  const places = { dataDirectory: folder, base: '/nowhere' };
  t.is((await readManifest('npm:weir-plugin-sundial', places)).name, 'sundial');
  t.is((await readManifest('npm:@acme/weir-plugin-moon', places)).name, 'moon');
});

test('every mistake is a sentence that names the plugin and the way out, and no code runs for it', async (t) => {
  const folder = await folderOf(t);
  const says = async (reference: string, pattern: RegExp) => {
    const error = await t.throwsAsync(readManifest(reference, { dataDirectory: folder, base: folder }), {
      instanceOf: PluginError,
      message: pattern,
    });
    t.true(error?.message.startsWith(`the plugin ${reference} `), error?.message);
  };
  const wrong = async (manifest: object, pattern: RegExp) => {
    await thirdParty(folder, 'sundial', 'process.exit(3);', manifest);
    await says('path:sundial', pattern);
  };
  await says('path:nowhere', /has no package\.json; fix the path$/);
  await says(
    'npm:weir-plugin-nowhere',
    /has no package\.json; install it with weir plugin add weir-plugin-nowhere$/,
  );
  for (const name of ['../../etc', 'left-pad', '@acme/tally', 'weir-plugin-', 'weir-plugin-../x'])
    await says(
      `npm:${name}`,
      /does not name a plugin package; plugin packages are called weir-plugin-<name>/,
    );
  await wrong(
    { name: 'tally' },
    /is a package called "tally"; plugin packages are called weir-plugin-<name>/,
  );
  await wrong({ name: undefined }, /is a package called undefined/);
  await wrong({ version: undefined }, /has no version/);
  await wrong({ weir: undefined }, /does not say .* which kernel contract .*"weir": \{"api": 1\}/);
  await wrong({ weir: { api: '1' } }, /does not say/);
  await wrong({ weir: { api: 0 } }, /kernel contract 0, this panel has 1; update the plugin$/);
  await wrong({ weir: { api: 2 } }, /kernel contract 2, this panel has 1; update the panel$/);
  await wrong({ exports: undefined }, /names no module .*add "exports"/);
  await wrong({ exports: { './other': './index.js' } }, /names no module/);
  await wrong({ exports: './dist/index.js' }, /lacks the module .*\.\/dist\/index\.js; build it first/);
  for (const [text, pattern] of [
    ['{', /package\.json that is not valid JSON .*; install it again/],
    ['[]', /does not hold an object/],
  ] as const) {
    await writeFiles(join(folder, 'sundial'), { 'package.json': text });
    await says('path:sundial', pattern);
  }
  await rm(join(folder, 'sundial'), { recursive: true });
  await thirdParty(join(folder, 'plugins', 'node_modules'), 'weir-plugin-moon', '', {
    name: 'weir-plugin-sun',
  });
  await says('npm:weir-plugin-moon', /has the name weir-plugin-sun/);
});

test('references are told from names, and what is not there goes by the name that was meant', (t) => {
  t.deepEqual(['access', 'path:x', 'npm:weir-plugin-x', 'paths'].map(isThirdParty), [
    false,
    true,
    true,
    false,
  ]);
  t.deepEqual(['npm:weir-plugin-x', 'npm:@a/weir-plugin-y', 'path:../z'].map(nameIn), [
    'x',
    'y',
    'path:../z',
  ]);
});
