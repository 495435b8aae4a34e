// install/weir.sh: the environment of a command is that of the service.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { sourceRoot } from '../harness/source-root.js';

/** A release whose Node prints what it was called with. */
async function release(t: ExecutionContext, settings: string) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'bin'));
  const script = await readFile(new URL('install/weir.sh', await sourceRoot()), 'utf8');
  await writeFile(join(folder, 'weir.env'), settings);
  const command = join(folder, 'bin', 'weir');
  await writeFile(command, script.replace('settings=/etc/weir.env', `settings=${folder}/weir.env`));
  await chmod(command, 0o755);
  await writeFile(
    join(folder, 'bin', 'node'),
    '#!/bin/sh\necho "$@"\nenv | grep ^WEIR_ | sort\nprintf %s "$PATH"\n',
  );
  await chmod(join(folder, 'bin', 'node'), 0o755);
  const run = async (args: string[], env: Record<string, string> = {}) =>
    promisify(execFile)(command, args, {
      env: { PATH: process.env['PATH'] ?? '', WEIR_DATA_DIR: folder, ...env },
    });
  return { folder, run };
}

test('reads /etc/weir.env as text, and never runs what is in it', async (t) => {
  const { folder, run } = await release(
    t,
    `# a comment
WEIR_HOST=0.0.0.0
WEIR_ADMIN_PASSWORD="two words"
WEIR_PUBLIC_HOST=$(touch ${'x'.repeat(3)})\`id\`;true
OTHER=1
 WEIR_INDENTED=1
WEIR_LOG_LEVEL=debug`,
  );
  const { stdout } = await run(['check', '--deep', 'a b'], { WEIR_LOG_LEVEL: 'warn' });
  t.deepEqual(stdout.split('\n'), [
    `${folder}/app/bin/weir.mjs check --deep a b`,
    'WEIR_ADMIN_PASSWORD=two words',
    `WEIR_DATA_DIR=${folder}`,
    'WEIR_HOST=0.0.0.0',
    'WEIR_LOG_LEVEL=warn',
    'WEIR_PUBLIC_HOST=$(touch xxx)`id`;true',
    `${folder}/bin:${process.env['PATH']}:/usr/sbin:/sbin`,
  ]);
  t.regex((await run(['run'])).stdout, /app\/bin\/start\.mjs\n/);
});

test('names a line whose variable has no valid name', async (t) => {
  const { run } = await release(t, 'WEIR_A;reboot=1\n');
  const error = await t.throwsAsync<Error & { stderr: string }>(run(['check']));
  t.regex(error?.stderr ?? '', /"WEIR_A;reboot" is not the name of a variable/);
});
