// Where the tests find the programs of users, and what a download must be.
import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { sourceRoot } from '../harness/source-root.js';
import { folderFor } from '../harness/folder-for.js';

const SCRIPT = '#!/bin/sh\nexit 0\n';
async function program(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(path, SCRIPT);
  await chmod(path, 0o755);
  return path;
}

/** Runs the command with nothing else around; answers of the internet come from a module that is loaded before it. */
async function found(
  env: Readonly<Record<string, string>>,
  answers = '',
): Promise<{ out: string; err: string }> {
  const command = fileURLToPath(new URL('bin/test-programs.mjs', await sourceRoot()));
  const loaded = answers && ['--import', `data:text/javascript,${encodeURIComponent(answers)}`];
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [...(loaded || []), command],
      { env: { PATH: '/usr/bin:/bin', ...env } },
      (_error, out, err) => resolve({ out, err }),
    ),
  );
}

test('a folder that is named comes first, then PATH, then the cache', async (t) => {
  const folder = await folderFor(t);
  const named = await program(join(folder, 'named'), 'sing-box');
  const cached = await program(join(folder, 'weir-test-programs'), 'mihomo');
  await program(join(folder, 'weir-test-programs'), 'sing-box');
  const { out } = await found({
    WEIR_TEST_PROGRAMS: join(folder, 'named'),
    XDG_CACHE_HOME: folder,
    WEIR_TEST_INSTALL: 'off',
  });
  t.deepEqual(out.trim().split('\n'), [named, cached]);
  const path = await program(join(folder, 'path'), 'mihomo');
  const other = await found({
    WEIR_TEST_PROGRAMS: join(folder, 'named'),
    PATH: `${join(folder, 'path')}:/usr/bin:/bin`,
    XDG_CACHE_HOME: folder,
    WEIR_TEST_INSTALL: 'off',
  });
  t.deepEqual(other.out.trim().split('\n'), [named, path]);
});

test('a missing program is named, with what to do', async (t) => {
  const { out, err } = await found({ XDG_CACHE_HOME: await folderFor(t), WEIR_TEST_INSTALL: 'off' });
  t.is(out, '');
  t.regex(err, /^sing-box is neither in WEIR_TEST_PROGRAMS nor on PATH nor in .*WEIR_TEST_INSTALL=off/);
});

/** A release of mihomo whose archive is the script of above. */
const release = (digest: string): string => `
  const archive = Buffer.from('${gzipSync(SCRIPT).toString('base64')}', 'base64');
  globalThis.fetch = async (url) => {
    if (!url.startsWith('https://api.github.com/repos/MetaCubeX/mihomo/releases/tags/v'))
      return url === 'https://files.example/m.gz' ? new Response(archive) : new Response('', { status: 404 });
    const version = url.split('/v').at(-1);
    const machines = { x64: 'amd64-compatible', arm64: 'arm64' };
    const name = 'mihomo-' + process.platform + '-' + machines[process.arch] + '-v' + version + '.gz';
    return Response.json({
      assets: [{ name, digest: 'sha256:${digest}', browser_download_url: 'https://files.example/m.gz' }],
    });
  };`;

test('a release is taken if it has the digest that it names, and else it is not', async (t) => {
  const folder = await folderFor(t);
  await program(join(folder, 'weir-test-programs'), 'sing-box');
  const digest = createHash('sha256').update(gzipSync(SCRIPT)).digest('hex');
  const wrong = await found({ XDG_CACHE_HOME: folder, WEIR_TEST_SCRIPT: 'off' }, release('0'.repeat(64)));
  t.is(wrong.out, '');
  t.regex(wrong.err, /has the SHA-256 .*, but its release says 0000/);
  const right = await found({ XDG_CACHE_HOME: folder, WEIR_TEST_SCRIPT: 'off' }, release(digest));
  const [, mihomo = ''] = right.out.trim().split('\n');
  t.regex(mihomo, /weir-test-programs\/[0-9.]+\/mihomo$/);
  t.is(await readFile(mihomo, 'utf8'), SCRIPT);
});
