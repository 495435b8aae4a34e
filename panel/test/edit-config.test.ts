import { chmod, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { editPlugins } from '../edit-config.js';
import { folderFor } from '../../test/harness/folder-for.js';

const on = (name: string) => (plugins: Readonly<Record<string, unknown>>) => ({ ...plugins, [name]: true });

test('changes only what is asked for: other keys, their order, the indent and the mode stay; and undoes it', async (t) => {
  const folder = await folderFor(t);
  const path = join(folder, 'weir.json');
  const before =
    '{\n\t"host": "::1",\n\t"plugins": { "a": { "config": { "x": 1 } } },\n\t"nobodyKnows": [1]\n}';
  await writeFile(path, before);
  await chmod(path, 0o640);
  const edited = await editPlugins(path, on('b'));
  t.false(edited.unchanged);
  const after = await readFile(path, 'utf8');
  t.is(
    after,
    `${JSON.stringify({ host: '::1', plugins: { a: { config: { x: 1 } }, b: true }, nobodyKnows: [1] }, undefined, '\t')}\n`,
  );
  t.is((await stat(path)).mode & 0o777, 0o640);
  await edited.undo();
  t.is(await readFile(path, 'utf8'), before);
  t.deepEqual(await readdir(folder), ['weir.json']);
});

test('creates a missing file for its owner only, and removes it when it undoes that', async (t) => {
  const folder = await folderFor(t);
  const path = join(folder, 'deep', 'weir.json');
  const edited = await editPlugins(path, on('b'));
  t.deepEqual(JSON.parse(await readFile(path, 'utf8')), { plugins: { b: true } });
  t.is((await stat(path)).mode & 0o777, 0o600);
  await edited.undo();
  t.deepEqual(await readdir(join(folder, 'deep')), []);
});

test('does not write an unchanged value', async (t) => {
  const path = join(await folderFor(t), 'weir.json');
  await writeFile(path, '{ "plugins": {"b":true} }');
  const edited = await editPlugins(path, on('b'));
  t.true(edited.unchanged);
  await edited.undo();
  t.is(await readFile(path, 'utf8'), '{ "plugins": {"b":true} }');
});

test('a link stays a link', async (t) => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'real.json'), '{}');
  await symlink('real.json', join(folder, 'weir.json'));
  await editPlugins(join(folder, 'weir.json'), on('b'));
  t.deepEqual(JSON.parse(await readFile(join(folder, 'real.json'), 'utf8')), { plugins: { b: true } });
  t.deepEqual((await readdir(folder)).sort(), ['real.json', 'weir.json']);
});

test('leaves a broken file unchanged, with a message that does not quote it', async (t) => {
  const folder = await folderFor(t);
  const path = join(folder, 'weir.json');
  for (const text of ['{ "password": "hunter2", ', '[1]', '{"plugins": []}', '{"plugins": "hunter2"}']) {
    await writeFile(path, text);
    const error = await t.throwsAsync(editPlugins(path, on('b')), { message: /fix it first$/ });
    t.false(error?.message.includes('hunter2'));
    t.is(await readFile(path, 'utf8'), text);
  }
  await t.throwsAsync(
    editPlugins(join(path, 'weir.json'), on('b')),
    { message: /weir\.json cannot be (?:read|written): / },
    'below something that is no folder',
  );
  await writeFile(path, '{}');
  await t.throwsAsync(
    editPlugins(path, () => {
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.deepEqual(await readdir(folder), ['weir.json']);
});
