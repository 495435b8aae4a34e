// `npm run release`: makes a key, and signs an index of the packages in a folder.
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { readPublicKeys } from '../../plugins/updates/minisign.js';
import { readIndex } from '../../plugins/updates/release-index.js';
import { sha256 } from '../../plugins/updates/test/release-server.js';
import { folderFor } from '../harness/folder-for.js';
import { sourceRoot } from '../harness/source-root.js';

const run = promisify(execFile);

async function open(t: ExecutionContext) {
  const folder = await folderFor(t);
  const script = new URL('bin/release.mjs', await sourceRoot()).pathname;
  const release = (...args: string[]) =>
    run(process.execPath, [script, ...args]).then(
      ({ stdout, stderr }) => ({ code: 0, said: stdout.trim(), complained: stderr }),
      (error: { code: number; stderr: string }) => ({ code: error.code, said: '', complained: error.stderr }),
    );
  const key = join(folder, 'release.key');
  const made = await release('key', '--file', key);
  const index = (...args: string[]) => release('index', '--packages', folder, ...args);
  const read = async () =>
    readIndex(
      await readFile(join(folder, 'releases.json')),
      await readFile(join(folder, 'releases.json.minisig'), 'utf8'),
      readPublicKeys(made.said),
      Date.now(),
    );
  const pack = (version: string, content: string) =>
    writeFile(join(folder, `weir-${version}-linux-x64.tar.gz`), content);
  return { folder, key, release, index, read, pack, made };
}

test('signs what is in the folder, and keeps what was published before', async (t) => {
  const { folder, key, index, read, pack, release } = await open(t);
  t.is((await stat(key)).mode & 0o777, 0o600);
  const again = await release('key', '--file', key);
  t.is(again.code, 1);
  t.regex(again.complained, /EEXIST/, 'a key that panels trust is not overwritten');

  await pack('0.2.0', 'two');
  await writeFile(join(folder, 'notes.txt'), 'What is new.\n');
  const first = await index('--key', key, '--notes', join(folder, 'notes.txt'), '--minimum', '0.1.0');
  t.is(first.code, 0, first.complained);
  await rm(join(folder, 'weir-0.2.0-linux-x64.tar.gz'));
  await pack('0.3.0-dev.1', 'three');
  const second = await index(
    '--key',
    key,
    '--channel',
    'dev',
    '--expires',
    '3',
    '--url',
    'https://a.example/r/',
  );
  t.is(second.code, 0, second.complained);
  const { number, expiresAt = 0, releases } = await read();
  t.is(number, 2);
  t.true(Math.abs(expiresAt - Date.now() - 3 * 86_400_000) < 60_000);
  t.like(releases, [
    { version: '0.2.0', channel: 'stable', minimum: '0.1.0', notes: 'What is new.' },
    { version: '0.3.0-dev.1', channel: 'dev', notes: '' },
  ]);
  t.deepEqual(releases[0]?.files, [
    { platform: 'linux-x64', url: 'weir-0.2.0-linux-x64.tar.gz', size: 3, sha256: sha256('two') },
  ]);
  t.is(releases[1]?.files[0]?.url, 'https://a.example/r/weir-0.3.0-dev.1-linux-x64.tar.gz');
  t.false((await readdir(folder)).some((name) => name.endsWith('.new')));
});

test('refuses what panels would refuse, and changes nothing', async (t) => {
  const { folder, key, index, pack, release } = await open(t);
  t.regex((await index('--key', key)).complained, /has no package/);
  await pack('0.2.0', 'two');
  t.regex((await index('--key', key, '--minimum', 'old')).complained, /minimum: it must be a version/);
  t.regex((await index('--key', key, '--channel', 'nightly')).complained, /channel must be/);
  t.regex(
    (await index('--key', join(folder, 'weir-0.2.0-linux-x64.tar.gz'))).complained,
    /neither a private key in PEM/,
  );
  t.regex((await index()).complained, /name the key with --key, or say --unsigned/);
  t.false((await readdir(folder)).includes('releases.json'));
  t.is((await release('sign')).code, 2);
  const unsigned = await index('--unsigned');
  t.is(unsigned.code, 0);
  t.regex(unsigned.complained, /sign it: minisign -Sm /);
  t.false((await readdir(folder)).includes('releases.json.minisig'));
});

test('a package for another machine stays in the index when it is not in the folder', async (t) => {
  const { folder, key, index, read, pack } = await open(t);
  await pack('0.2.0', 'for x64');
  await index('--key', key);
  await rm(join(folder, 'weir-0.2.0-linux-x64.tar.gz'));
  await writeFile(join(folder, 'weir-0.2.0-linux-arm64.tar.gz'), 'for arm64');
  t.is((await index('--key', key)).code, 0);
  const [release] = (await read()).releases;
  t.deepEqual(
    release?.files.map(({ platform, sha256: digest }) => [platform, digest]),
    [
      ['linux-arm64', sha256('for arm64')],
      ['linux-x64', sha256('for x64')],
    ],
  );
  await pack('0.2.0', 'built again');
  await index('--key', key);
  t.deepEqual(
    (await read()).releases[0]?.files.map(({ sha256: digest }) => digest).sort(),
    [sha256('built again'), sha256('for arm64')].sort(),
  );
});
