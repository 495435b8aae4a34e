// A folder as a target: names that lead elsewhere, links, drafts of a process that was killed, and a disk that is not mounted.
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { makeFolder } from '../make-folder.js';
import { FolderTarget } from '../targets/folder-target.js';

const NAME = 'weir_2026-11-23_043000.db';
const signal = new AbortController().signal;

async function worldOf(t: ExecutionContext) {
  const root = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const settings = { backupFolder: join(root, 'target'), backupFolderRequired: true };
  await mkdir(settings.backupFolder);
  await writeFile(join(root, 'file'), 'content');
  const target = new FolderTarget({ settings: { read: () => settings } as never });
  const file = { path: join(root, 'file'), bytes: 7 };
  return { root, settings, target, file };
}

test('stores, reads, lists and deletes below one folder', async (t) => {
  const { target, file, settings } = await worldOf(t);
  const folder = join(settings.backupFolder, 'guid');
  await mkdir(folder);
  await writeFile(join(folder, `.${NAME}.part`), 'half');
  await writeFile(join(folder, '.weir_2020-01-01_000000.db.part'), 'half');
  await writeFile(join(folder, '.other.part'), 'not ours');
  await target.put(`guid/${NAME}`, file, signal);
  t.deepEqual((await readdir(folder)).sort(), ['.other.part', NAME]);
  const pieces: Uint8Array[] = [];
  for await (const piece of target.read(`guid/${NAME}`, signal)) pieces.push(piece);
  t.is(Buffer.concat(pieces).toString(), 'content');
  t.true((await target.list('guid', 10)).some(({ name, bytes }) => name === NAME && bytes === 7));
  t.deepEqual(await target.list('nothing', 10), []);
  await target.remove(`guid/${NAME}`);
  await target.remove(`guid/${NAME}`);
});

test('a folder that cannot be created is an error, and not a loop', async (t) => {
  t.timeout(10_000);
  for (const path of ['/proc/nothing', '/proc/nothing/below', '/dev/null/x'])
    await t.throwsAsync(makeFolder(path), { message: /^the folder \S+ cannot be created: E[A-Z]+$/ }, path);
  const { root } = await worldOf(t);
  const path = join(root, 'a/b/c');
  await Promise.all([makeFolder(path), makeFolder(path)]);
  t.is((await stat(path)).mode & 0o777, 0o700);
  const settings = { backupFolder: '/proc/nothing', backupFolderRequired: false };
  const target = new FolderTarget({ settings: { read: () => settings } as never });
  await t.throwsAsync(target.put(`guid/${NAME}`, { path: join(root, 'file'), bytes: 7 } as never, signal), {
    message: /cannot be created/,
  });
});

test('names that lead elsewhere are refused', async (t) => {
  const { target, file, root } = await worldOf(t);
  for (const key of [
    '../file',
    'guid/../../file',
    '/etc/passwd',
    'guid/',
    'guid',
    'guid/a/b',
    'guid/..',
    `guid/${'x'.repeat(100)}`,
    '',
  ]) {
    await t.throwsAsync(target.put(key, file, signal), { message: /is not the name of a file/ }, key);
    await t.throwsAsync(target.remove(key), { message: /is not the name of a file/ }, key);
    await t.throwsAsync(target.read(key, signal).next(), { message: /is not the name of a file/ }, key);
  }
  for (const folder of ['..', '../..', '/', 'a/b', ''])
    await t.throwsAsync(target.list(folder, 10), undefined, folder);
  t.is(await readFile(join(root, 'file'), 'utf8'), 'content');
});

test('a folder that is missing, a file or a link is refused', async (t) => {
  const { target, file, settings, root } = await worldOf(t);
  await mkdir(join(root, 'elsewhere'));
  await symlink(join(root, 'elsewhere'), join(settings.backupFolder, 'guid'));
  await t.throwsAsync(target.put(`guid/${NAME}`, file, signal), { message: /is a link/ });
  t.deepEqual(await readdir(join(root, 'elsewhere')), []);
  settings.backupFolder = join(root, 'file');
  await t.throwsAsync(target.put(`guid/${NAME}`, file, signal), { message: /is not a folder/ });
  settings.backupFolder = join(root, 'unmounted');
  await t.throwsAsync(target.put(`guid/${NAME}`, file, signal), { message: /does not exist; mount it/ });
  settings.backupFolderRequired = false;
  await target.put(`guid/${NAME}`, file, signal);
  t.deepEqual(await readdir(join(root, 'unmounted', 'guid')), [NAME]);
});
