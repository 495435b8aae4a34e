// bin/weir.mjs: sets up first, then hands over to the command line, in the same process.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { main } from '../../cli/weir.js';
import { sourceRoot } from '../harness/source-root.js';

test('bin/weir.mjs sets up, then runs what was asked with its arguments and exit code', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'bin'));
  await mkdir(join(folder, 'dist', 'cli'), { recursive: true });
  await copyFile(new URL('bin/weir.mjs', await sourceRoot()), join(folder, 'bin', 'weir.mjs'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(
    join(folder, 'bin', 'setup.mjs'),
    "export const setUp = async () => console.log('set up');",
  );
  await writeFile(
    join(folder, 'dist', 'cli', 'weir.js'),
    "export const main = async () => { console.log(process.argv.slice(2).join('|')); process.exit(2); };",
  );
  const { code, stdout } = await t.throwsAsync<Error & { code: number; stdout: string }>(
    promisify(execFile)(process.execPath, [
      join(folder, 'bin', 'weir.mjs'),
      'admin',
      'reset',
      '--username',
      'a b',
    ]),
  );
  t.deepEqual([code, stdout], [2, 'set up\nadmin|reset|--username|a b\n']);
  t.is(typeof main, 'function', 'what it hands over to is there');
});
