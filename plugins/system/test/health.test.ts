import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { definePlugin } from '../../../kernel/index.js';
import { FakeEngine, TestPanel, weirCommand } from '../../../test/harness/index.js';
import { selfSigned, writePair } from '../../../test/harness/self-signed.js';

test('weir health asks the panel that runs, below its base path', async (t) => {
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_BASE_PATH: '/hidden/' },
  });
  const { code, said } = await weirCommand(panel.dataDirectory, ['health']);
  t.is(code, 0);
  t.regex(said, /^the panel works, on port \d+\n$/);
});

test('weir health names plugins that do not run', async (t) => {
  const broken = definePlugin({
    name: 'acme-broken',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    start: () => {
      throw new Error('no luck');
    },
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [broken],
    partial: true,
  });
  const { code, said } = await weirCommand(panel.dataDirectory, ['health']);
  t.is(code, 0);
  t.regex(said, /^plugin acme-broken does not run: .*no luck/m);
});

test('weir health asks over TLS where the panel has a certificate of any name', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const { certFile, keyFile } = await writePair(folder, selfSigned('panel.example.com'));
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_TLS_CERT: certFile, WEIR_TLS_KEY: keyFile },
    anonymous: true,
  });
  const { code, said } = await weirCommand(panel.dataDirectory, ['health']);
  t.is(code, 0, said);
});
