import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface Status {
  readonly mem: { readonly current: number; readonly total: number };
  readonly disk: { readonly current: number; readonly total: number };
  readonly load: { readonly load1: number; readonly load5: number; readonly load15: number };
  readonly loads: readonly number[];
  readonly engine: { readonly state: string; readonly version: string };
}

test('shows this machine and the current state of the core', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const status = await panel.get<Status>('/panel/api/server/status');
  for (const { current, total } of [status.mem, status.disk]) t.true(current > 0 && current <= total);
  t.deepEqual(status.loads, [status.load.load1, status.load.load5, status.load.load15]);
  t.is(status.engine.state, 'running');
  engine.running = false;
  t.is((await panel.get<Status>('/panel/api/server/status')).engine.state, 'stop');
});
