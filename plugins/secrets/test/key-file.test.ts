import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { execFileSync } from 'node:child_process';
import { keyFileIn, readKeyFile, writeKeyFile } from '../key-file.js';
import { newKey } from '../sealed-text.js';
import { folderFor } from '../../../test/harness/folder-for.js';

test('keys are kept in a file for its owner only, and nothing else is left in the folder', async (t) => {
  const directory = await folderFor(t);
  const path = keyFileIn(directory);
  t.deepEqual(await readKeyFile(path), []);
  const [first, second] = [newKey(), newKey()];
  await writeKeyFile(path, [first]);
  await writeKeyFile(path, [second, first]);
  t.deepEqual(await readKeyFile(path), [second, first]);
  t.is((await stat(path)).mode & 0o777, 0o600);
  t.deepEqual(await readdir(directory), ['secrets.key']);
});

test('a file that others may read is closed to them', async (t) => {
  const path = keyFileIn(await folderFor(t));
  await writeKeyFile(path, [newKey()]);
  await chmod(path, 0o644);
  t.is((await readKeyFile(path)).length, 1);
  t.is((await stat(path)).mode & 0o777, 0o600);
});

test('a file of another size, or with something else in it, is named and left as it is', async (t) => {
  const path = keyFileIn(await folderFor(t));
  const key = newKey().text;
  for (const [text, expected] of [
    ['', /there is no key in it/],
    ['\n\n', /there is no key in it/],
    [key.slice(0, -2), /32 bytes in base64/],
    [`${key}${key}`, /32 bytes in base64/],
    [`${key}\n${key}\n`, /is there twice/],
    [`${key}\nnonsense`, /32 bytes in base64/],
    ['\0'.repeat(45), /32 bytes in base64/],
    [`${key}\n`.repeat(100), /has 4500 bytes/],
  ] as const) {
    await writeFile(path, text);
    const error = await t.throwsAsync(readKeyFile(path));
    t.regex(error.message, expected, JSON.stringify(text));
    t.true(error.message.startsWith(path));
    t.false(error.message.includes(key.slice(0, 20)));
    t.is(await readFile(path, 'utf8'), text);
  }
});

test('neither a link, a folder nor a pipe is taken for the file', async (t) => {
  const directory = await folderFor(t);
  const real = join(directory, 'real');
  await writeKeyFile(real, [newKey()]);
  const path = keyFileIn(directory);
  await symlink(real, path);
  t.regex((await t.throwsAsync(readKeyFile(path))).message, /symbolic link; put the key itself there/);
  await rm(path);
  await symlink(join(directory, 'nowhere'), path);
  t.regex((await t.throwsAsync(readKeyFile(path))).message, /symbolic link/);
  await rm(path);
  await mkdir(path);
  t.regex((await t.throwsAsync(readKeyFile(path))).message, /not a regular file/);
  await rm(path, { recursive: true });
  execFileSync('mkfifo', [path]);
  t.regex((await t.throwsAsync(readKeyFile(path))).message, /not a regular file/);
});
