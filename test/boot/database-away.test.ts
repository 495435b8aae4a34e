// A database that goes away while a plugin starts: no fault of the plugin, so the panel does not run without it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { definePlugin, kernelErrors } from '../../kernel/index.js';
import { bootPanel } from '../../panel/boot.js';
import { choosePlugins } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { environmentOf } from '../harness/api.js';

/** Boots the panel with a plugin that finds the database away so many times. */
async function bootWith(t: ExecutionContext, times: number) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  let starts = 0;
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    api: 1,
    about: 'reads when it starts',
    start: async () => {
      starts++;
      if (starts <= times) throw new Error('cannot read', { cause: kernelErrors.DATABASE_AWAY() });
    },
  });
  const env = {
    ...environmentOf(dataDirectory),
    WEIR_PRESET: 'minimal',
    WEIR_ENGINE_BIN: '/nowhere/xray',
    WEIR_ENGINE_INSTALL: 'off',
  };
  const { plugins, ...chosen } = await choosePlugins(env, await readConfigFile(env));
  const kernel = bootPanel({ ...chosen, plugins: [...plugins, probe], env, write: () => undefined });
  return { kernel, starts: () => starts };
}

test('a plugin that finds the database away starts when it is back', async (t) => {
  const { kernel, starts } = await bootWith(t, 2);
  const panel = await kernel;
  t.teardown(() => panel.stop('test'));
  t.is(starts(), 3);
  t.is(panel.plugins().find(({ name }) => name === 'probe')?.state, 'running');
});

test('where it stays away, the panel does not start without the plugin', async (t) => {
  const { kernel, starts } = await bootWith(t, Number.POSITIVE_INFINITY);
  await t.throwsAsync(kernel, { message: /probe.*cannot read/ });
  t.is(starts(), 9);
});
