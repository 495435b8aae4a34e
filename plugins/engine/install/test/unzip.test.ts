import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { unzip } from '../unzip.js';
import { type File, zipOf } from './archive.js';

const LIMIT = 1_000_000;
const program = Buffer.from('#!/bin/sh\n'.repeat(5_000));
const core = (rest: Partial<File> = {}): File => ({ name: 'xray', content: program, ...rest });

test('one file comes out whole, packed or not, wherever it lies in the archive', async (t) => {
  const others = [
    { name: 'geoip.dat', content: 'a' },
    { name: 'README.md', content: '' },
  ];
  for (const method of ['stored', 'deflated'] as const) {
    for (const files of [[core({ method })], [...others, core({ method })], [core({ method }), ...others]])
      t.deepEqual(await unzip(zipOf(files), 'xray', LIMIT), program);
  }
  t.deepEqual(await unzip(zipOf([core()], 'a comment behind the directory'), 'xray', LIMIT), program);
  t.is((await unzip(zipOf([core({ content: '' })]), 'xray', LIMIT)).length, 0);
});

test('an archive by another program is read', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-zip-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'xray'), program);
  const made = await promisify(execFile)('python3', ['-m', 'zipfile', '-c', 'made.zip', 'xray'], {
    cwd: folder,
  }).then(
    () => true,
    () => false,
  );
  if (!made) t.log('there is no python3 here; only our own archives were read');
  t.deepEqual(
    await unzip(made ? await readFile(join(folder, 'made.zip')) : zipOf([core()]), 'xray', LIMIT),
    program,
  );
});

test('only the very name counts: no path leads to it', async (t) => {
  for (const name of ['../xray', '/xray', './xray', 'bin/xray', 'xray/', 'XRAY', 'xray\0']) {
    await t.throwsAsync(
      unzip(zipOf([core({ name })]), 'xray', LIMIT),
      { message: 'the archive gives no xray: it is not there' },
      name,
    );
  }
  await t.throwsAsync(unzip(zipOf([core(), core({ content: 'another' })]), 'xray', LIMIT), {
    message: /it is there twice/,
  });
});

test('links, folders, encrypted and unknown kinds are refused', async (t) => {
  await t.throwsAsync(unzip(zipOf([core({ mode: 0o120777, content: '/etc/passwd' })]), 'xray', LIMIT), {
    message: /it is a link or a folder/,
  });
  await t.throwsAsync(unzip(zipOf([core({ mode: 0o040755 })]), 'xray', LIMIT), {
    message: /it is a link or a folder/,
  });
  await t.throwsAsync(unzip(zipOf([core({ flags: 1 })]), 'xray', LIMIT), { message: /it is encrypted/ });
  const zip = zipOf([core()]);
  zip.writeUInt16LE(12, zip.lastIndexOf('PK\x01\x02') + 10);
  await t.throwsAsync(unzip(zip, 'xray', LIMIT), { message: /packed by method 12/ });
});

test('a file that is larger than allowed, or than it says, is not unpacked', async (t) => {
  await t.throwsAsync(unzip(zipOf([core()]), 'xray', program.length - 1), {
    message: /it is larger than 49999 bytes/,
  });
  await t.throwsAsync(unzip(zipOf([core({ size: 100 })]), 'xray', LIMIT), {
    message: /the archive gives no xray: /,
  });
  await t.throwsAsync(unzip(zipOf([core({ size: program.length + 1 })]), 'xray', LIMIT), {
    message: /its content is damaged/,
  });
  await t.throwsAsync(unzip(zipOf([core({ crc: 1 })]), 'xray', LIMIT), { message: /its content is damaged/ });
});

test('an archive that is cut anywhere, or is none, is refused with a sentence', async (t) => {
  const zip = zipOf([core(), { name: 'geoip.dat', content: 'x' }]);
  for (let length = 0; length < zip.length; length += 7)
    await t.throwsAsync(unzip(zip.subarray(0, length), 'xray', LIMIT), {
      message: /^the archive gives no xray: (?:its directory is missing|the archive is damaged)$/,
    });
  await t.throwsAsync(unzip(Buffer.from('<html>not found</html>'.repeat(10)), 'xray', LIMIT), {
    message: /its directory is missing/,
  });
  // The beginning is gone, the directory is whole.
  await t.throwsAsync(unzip(zip.subarray(20), 'xray', LIMIT), { message: /^the archive gives no xray: / });
});
