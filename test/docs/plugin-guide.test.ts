// The guide shows files that are built and booted elsewhere (test/outside, examples); here it is held to them.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { tablePrefix, variablePrefix } from '../../panel/third-party.js';
import { isThirdParty, readManifest } from '../../panel/manifest.js';
import { sourceRoot } from '../harness/source-root.js';
import { folderOf } from '../outside/third-party.js';

const guide = async (): Promise<string> =>
  readFile(new URL('docs/plugin-guide.md', await sourceRoot()), 'utf8');

test('every source and manifest in the plugin guide is, or is part of, the file that is named before it', async (t) => {
  const root = await sourceRoot();
  const text = await guide();
  const blocks = [...text.matchAll(/```(?:ts|json)\n([\s\S]*?)```/g)];
  t.is(blocks.length, 35);
  for (const { 1: block = '', index } of blocks) {
    const path =
      [...text.slice(0, index).matchAll(/`(examples\/[\w./-]+\.(?:ts|json))`/g)].at(-1)?.[1] ??
      'no file is named';
    const file = await readFile(new URL(path, root), 'utf8');
    t.true(
      file.includes(block.trimEnd()),
      `docs/plugin-guide.md shows something else than ${path}:\n${block}`,
    );
  }
});

test('every weir.json in the guide and docs/environment.md names third-party plugins', async (t) => {
  const environment = await readFile(new URL('docs/environment.md', await sourceRoot()), 'utf8');
  const blocks = [...`${await guide()}${environment}`.matchAll(/```jsonc\n([\s\S]*?)```/g)].map(
    ([, block = '']) => JSON.parse(block) as { plugins?: Record<string, unknown> },
  );
  const references = blocks.flatMap(({ plugins = {} }) => Object.keys(plugins));
  t.true(references.length >= 3 && references.every(isThirdParty), references.join());
  const folder = await folderOf(t);
  // The sentence for what is not installed is the command that the pages show.
  const error = await t.throwsAsync(
    readManifest('npm:weir-plugin-acme-tally', { dataDirectory: folder, base: folder }),
  );
  const command = error?.message.split('install it with ')[1] ?? 'none';
  t.true((await guide()).includes(command) && environment.includes(command), command);
});

test('the names that the guide tells are those that the panel asks for', async (t) => {
  const text = await guide();
  for (const name of [tablePrefix('acme-tally'), variablePrefix('acme-tally'), '/panel/api/x/acme-tally/'])
    t.true(text.includes(`\`${name}`), name);
});
