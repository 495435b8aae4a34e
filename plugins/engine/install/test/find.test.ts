import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { CORE_VERSION, keptCore, RELEASES } from '../release.js';
import { writeChoice } from '../chosen-core.js';
import { type CoreConfig, findCore } from '../find.js';

const config: CoreConfig = { install: 'off', releases: RELEASES };
const quiet = { info: () => undefined, warn: () => undefined };

async function place(
  t: ExecutionContext,
): Promise<{ env: Record<string, string>; dataDirectory: string; put: (path: string) => Promise<string> }> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-find-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'path'));
  return {
    env: { PATH: join(folder, 'path'), XDG_CACHE_HOME: join(folder, 'cache') },
    dataDirectory: join(folder, 'data'),
    put: async (path) => {
      const whole = path.startsWith('/') ? path : join(folder, path);
      await mkdir(join(whole, '..'), { recursive: true });
      await writeFile(whole, '#!/bin/sh\nexit 0\n');
      await chmod(whole, 0o755);
      return whole;
    },
  };
}

test('the places are looked through in order: variable, data folder, PATH, cache', async (t) => {
  const { env, dataDirectory, put } = await place(t);
  const cached = await put(keptCore(env));
  t.deepEqual(await findCore({ config, env, dataDirectory, log: quiet }), {
    binary: cached,
    source: 'cache',
  });
  const installed = await put('path/xray');
  t.deepEqual(await findCore({ config, env, dataDirectory, log: quiet }), {
    binary: installed,
    source: 'PATH',
  });
  const own = await put('data/bin/xray');
  t.deepEqual(await findCore({ config, env, dataDirectory, log: quiet }), { binary: own, source: 'data' });
  const chosen = await put('elsewhere/my-core');
  t.deepEqual(await findCore({ config: { ...config, binary: chosen }, env, dataDirectory, log: quiet }), {
    binary: chosen,
    source: 'WEIR_ENGINE_BIN',
  });
});

test('an installed version that was chosen comes before a core elsewhere; a damaged choice is logged and skipped', async (t) => {
  const { env, dataDirectory, put } = await place(t);
  const found = await put('path/xray');
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
  const find = () => findCore({ config, env, dataDirectory, log });
  await writeChoice(dataDirectory, { chosen: '26.4.1', previous: '', trying: '' });
  t.like(await find(), { binary: found, source: 'PATH' });
  t.regex(warnings.splice(0).join(), /the chosen core is not there any more/);
  const installed = await put('data/cores/26.4.1/xray');
  t.deepEqual(await find(), { binary: installed, source: 'installed' });
  t.deepEqual(warnings, []);
  for (const damaged of [
    '',
    '{',
    'null',
    '7',
    '{"chosen":"../../path"}',
    '{"chosen":["26.4.1"]}',
    ' '.repeat(70_000),
  ]) {
    await writeFile(join(dataDirectory, 'cores', 'chosen.json'), damaged);
    t.like(await find(), { binary: found, source: 'PATH' }, damaged.slice(0, 20));
  }
  t.true(warnings.length >= 3);
});

test('names a WEIR_ENGINE_BIN that cannot run, and never skips it', async (t) => {
  const { env, dataDirectory, put } = await place(t);
  await put('path/xray');
  const error = await t.throwsAsync(
    findCore({ config: { ...config, binary: '/nowhere/xray' }, env, dataDirectory, log: quiet }),
  );
  t.regex(error.message, /WEIR_ENGINE_BIN is \/nowhere\/xray/);
});

test('a folder that is called xray is no core', async (t) => {
  const { env, dataDirectory } = await place(t);
  const folder = join(env['PATH'] as string, 'xray');
  await mkdir(folder);
  t.true('missing' in (await findCore({ config, env, dataDirectory, log: quiet })));
  await t.throwsAsync(findCore({ config: { ...config, binary: folder }, env, dataDirectory, log: quiet }), {
    message: /WEIR_ENGINE_BIN/,
  });
});

test('with nothing to be found, one sentence says what was looked for', async (t) => {
  const { env, dataDirectory } = await place(t);
  const found = await findCore({ config, env, dataDirectory, log: quiet });
  t.true('missing' in found && /WEIR_ENGINE_BIN.*xray on PATH.*WEIR_ENGINE_INSTALL=off/.test(found.missing));
});

test('without Go, or with one too old, the sentence says which is needed', async (t) => {
  const { env, dataDirectory } = await place(t);
  // A port that cannot be connected to: nothing is downloaded.
  const on: CoreConfig = { install: 'on', releases: 'http://127.0.0.1:0' };
  const without = await findCore({ config: on, env, dataDirectory, log: quiet });
  t.true('missing' in without && /no Go on PATH/.test(without.missing));
  await writeFile(join(env['PATH'] as string, 'go'), '#!/bin/sh\necho go version go1.19.8 linux/amd64\n', {
    mode: 0o755,
  });
  const old = await findCore({ config: on, env, dataDirectory, log: quiet });
  t.true('missing' in old && /Go 1\.26 or newer is needed.*go1\.19\.8/.test(old.missing));
});

test('the pinned module is the version that is named everywhere', async (t) => {
  const { readFile } = await import('node:fs/promises');
  const { sourceRoot } = await import('../../../../test/harness/source-root.js');
  const [major = '', minor = '', patch = ''] = CORE_VERSION.split('.');
  const pinned = `v1.${major}${minor.padStart(2, '0')}${patch.padStart(2, '0')}.0`;
  t.true(
    (await readFile(new URL('plugins/engine/install/core/go.mod', await sourceRoot()), 'utf8')).includes(
      `github.com/xtls/xray-core ${pinned}`,
    ),
  );
});
