// What each preset has, and that a panel starts with it.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readPreset } from '../../panel/choose-plugins.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { ProgramPanel } from '../harness/program-panel.js';
import { sourceRoot } from '../harness/source-root.js';

const presets = ['minimal', 'standard', 'full'] as const;

test('each preset has all of the smaller one; full has every plugin that there is', async (t) => {
  const [minimal = [], standard = [], full = []] = await Promise.all(presets.map(readPreset));
  t.deepEqual(
    minimal.filter((name) => !standard.includes(name)),
    [],
  );
  t.deepEqual(
    standard.filter((name) => !full.includes(name)),
    [],
  );
  const folders = await readdir(new URL('plugins/', await sourceRoot()), { withFileTypes: true });
  t.deepEqual(
    [...full].sort(),
    folders
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort(),
  );
});

test('minimal has every plugin that the panel does not start without', async (t) => {
  const [minimal, full] = await Promise.all([readPreset('minimal'), readPreset('full').then(findPlugins)]);
  t.deepEqual(
    full.filter(({ essential, name }) => essential && !minimal.includes(name)).map(({ name }) => name),
    [],
  );
});

test('the documents tell what each preset has', async (t) => {
  const page = await readFile(new URL('docs/environment.md', await sourceRoot()), 'utf8');
  const told = new Map<string, string[]>();
  for (const preset of presets) {
    const [, has = ''] = new RegExp(`^\\| \`${preset}\` \\| (.+?) \\|`, 'm').exec(page) ?? [];
    const names = [...has.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    told.set(
      preset,
      names.flatMap((name) => told.get(name) ?? [name]),
    );
    t.deepEqual(
      told.get(preset)?.sort(),
      (await readPreset(preset)).sort(),
      `docs/environment.md is wrong about ${preset}`,
    );
  }
});

for (const preset of presets) {
  test.serial(`a panel with the preset ${preset} starts and takes an inbound and a client`, async (t) => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    const env = { WEIR_PRESET: preset, WEIR_ENGINE_BIN: '/nowhere/xray', WEIR_ENGINE_INSTALL: 'off' };
    const panel = await ProgramPanel.start({ dataDirectory, env });
    t.teardown(() => panel.stop());
    await panel.addClient('ann', [await panel.addInbound()]);
    t.like(await panel.get('/panel/api/clients/get/ann'), { email: 'ann', enable: true });
    // Minimal has neither figures of the machine nor links: these belong to plugins that it leaves out.
    const left = await Promise.all(
      ['/panel/api/server/status', '/panel/api/clients/links/ann'].map(
        async (path) => (await panel.call(path)).status,
      ),
    );
    t.deepEqual(left, preset === 'minimal' ? [404, 404] : [200, 200]);
    t.is(panel.ready.subUrl === undefined, preset === 'minimal');
  });
}
