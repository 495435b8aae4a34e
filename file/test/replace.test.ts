import test from 'ava';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testUnless } from '../../test/harness/left-out.js';
import { SmallDisk } from '../../test/harness/small-disk.js';
import { lockFolder } from '../lock.js';
import { replaceFile } from '../replace.js';
import { createLog } from '../../panel/log.js';

const testWithDisk = testUnless(SmallDisk.obstacle());

test('a new file is private, a replaced one keeps its mode, and a given mode is used', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'deep', 'file.json');
  const now = async () => [await readFile(path, 'utf8'), (await stat(path)).mode & 0o777];
  await replaceFile(path, 'one');
  t.deepEqual(await now(), ['one', 0o600]);
  await chmod(path, 0o644);
  await replaceFile(path, 'two');
  t.deepEqual(await now(), ['two', 0o644]);
  await replaceFile(path, 'three', 0o600);
  t.deepEqual(await now(), ['three', 0o600]);
});

testWithDisk('a full disk leaves the previous content and no other file', async (t) => {
  const disk = SmallDisk.mount(t, 1);
  const path = join(disk.path, 'file.json');
  await writeFile(path, 'before');
  disk.fill();
  await t.throwsAsync(replaceFile(path, 'x'.repeat(10_000)), {
    message: /file\.json cannot be written: ENOSPC/,
  });
  disk.free();
  t.is(await readFile(path, 'utf8'), 'before');
  t.deepEqual(await readdir(disk.path), ['file.json']);
});

test('a panel whose panel.pid cannot be written still locks its folder, and logs why', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'panel.pid'));
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const lock = await lockFolder(folder, createLog({ level: 'info', readable: false, write }));
  t.regex(lines.join(''), /"level":"warn".*panel\.pid cannot be written/);
  await t.throwsAsync(lockFolder(folder), { name: 'FolderInUse' });
  await lock.release();
});
