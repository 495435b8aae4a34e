import { readdir } from 'node:fs/promises';
import test from 'ava';
import { definePlugin } from '../../../kernel/index.js';
import { FakeEngine, TestPanel, weirCommand } from '../../../test/harness/index.js';

interface Status {
  readonly mem: { readonly current: number; readonly total: number };
  readonly disk: { readonly current: number; readonly total: number };
  readonly load: { readonly load1: number; readonly load5: number; readonly load15: number };
  readonly loads: readonly number[];
  readonly engine: { readonly state: string; readonly version: string };
}

test('the status tells of this machine, and of the core as it is', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const status = await panel.get<Status>('/panel/api/server/status');
  for (const { current, total } of [status.mem, status.disk]) t.true(current > 0 && current <= total);
  t.deepEqual(status.loads, [status.load.load1, status.load.load5, status.load.load15]);
  t.is(status.engine.state, 'running');
  engine.running = false;
  t.is((await panel.get<Status>('/panel/api/server/status')).engine.state, 'stop');
});

test('weir plugins and the API list what is on, what failed, and why', async (t) => {
  const broken = definePlugin({
    name: 'broken',
    version: '1.2.3',
    api: 1,
    about: 'Cannot start.',
    start: () => Promise.reject(new Error('the moon is not full')),
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [broken], partial: true });
  const listed = await panel.get<{ name: string; state: string; reason: string }[]>('/panel/api/system/plugins');
  t.regex(listed.find(({ name }) => name === 'broken')?.reason ?? '', /the moon is not full/);
  t.is(listed.find(({ name }) => name === 'clients')?.state, 'running');
  t.true((await readdir(panel.dataDirectory)).includes('panel.sock'));
  const { code, said } = await weirCommand(panel.dataDirectory, ['plugins']);
  t.is(code, 0);
  t.regex(said, /^broken +1\.2\.3 +failed +.*the moon is not full/m);
  t.regex(said, /^clients +\S+ +running/m);
  t.is(said.trim().split('\n').length, listed.length);
});
