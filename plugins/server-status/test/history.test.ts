import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { refused } from '../../../test/harness/refused.js';

const NOW = Date.UTC(2026, 0, 15, 12);
const METRICS = [
  ...['cpu', 'mem', 'swap', 'netUp', 'netDown', 'pktUp', 'pktDown', 'diskRead', 'diskWrite', 'diskUsage'],
  ...['tcpCount', 'udpCount', 'online', 'load1', 'load5', 'load15'],
];

interface Point {
  readonly t: number;
  readonly v: number;
}
async function boot(without: readonly string[] = []) {
  const clock = new FakeClock(NOW);
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock, without });
  const sample = async (times: number) => {
    for (let i = 0; i < times; i++) {
      clock.tick(2_000);
      await panel.kernel.settled();
    }
  };
  return { panel, clock, engine, sample };
}
const times = (points: readonly Point[]) => points.map((point) => point.t - NOW / 1000);

test('every metric has a point for each sample, at most sixty, with nothing where no sample was', async (t) => {
  const { panel, clock, sample } = await boot();
  await using _ = panel;
  const history = (metric: string, bucket: number) =>
    panel.get<Point[]>(`/panel/api/server/history/${metric}/${bucket}`);
  t.deepEqual(await history('cpu', 2), []);
  await sample(2);
  for (const metric of METRICS) {
    const points = await history(metric, 2);
    t.deepEqual(times(points), [2, 4], metric);
    t.true(points.every(({ v }) => Number.isFinite(v) && v >= 0));
  }
  t.true((await history('mem', 2)).every(({ v }) => v > 0 && v <= 100));
  const cpu = await panel.get<{ t: number; cpu: number }[]>('/panel/api/server/cpuHistory/2');
  t.deepEqual(
    cpu.map((point) => ({ t: point.t, v: point.cpu })),
    await history('cpu', 2),
  );
  await sample(70);
  t.deepEqual(
    times(await history('load1', 2)),
    Array.from({ length: 60 }, (_, i) => 26 + 2 * i),
  );
  t.deepEqual(times(await history('load1', 60)), [0, 60, 120]);
  for (const bucket of [30, 120, 180, 300]) t.true((await history('load1', bucket)).length >= 1);
  clock.tick(0);
});

test('clients that are online are counted', async (t) => {
  const { panel, clock, engine, sample } = await boot();
  await using _ = panel;
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound]);
  engine.move(inbound, ada.id, 10, 10);
  clock.tick(5_000);
  await panel.kernel.settled();
  await sample(1);
  const points = await panel.get<Point[]>('/panel/api/server/history/online/2');
  t.is(points.at(-1)?.v, 1);
});

test('a point has what the status shows', async (t) => {
  const { panel, sample } = await boot();
  await using _ = panel;
  await sample(1);
  const status = await panel.get<{
    disk: { current: number; total: number };
    tcpCount: number;
    swap: { current: number; total: number };
    amneziawg: object;
  }>('/panel/api/server/status');
  const value = async (metric: string) =>
    (await panel.get<Point[]>(`/panel/api/server/history/${metric}/2`)).at(-1)?.v;
  t.is(await value('tcpCount'), status.tcpCount);
  t.is(await value('diskUsage'), (100 * status.disk.current) / status.disk.total);
  const { current, total } = status.swap;
  t.is(await value('swap'), total === 0 ? 0 : (100 * current) / total);
  t.deepEqual(status.amneziawg, { configured: false, running: false });
});

test('a clock that jumps an hour forward leaves a gap, and one that jumps back a repeated hour', async (t) => {
  const { panel, clock, sample } = await boot();
  await using _ = panel;
  const history = (bucket: number) => panel.get<Point[]>(`/panel/api/server/history/load1/${bucket}`);
  await sample(3);
  clock.jump(3_600_000);
  await sample(3);
  t.deepEqual(
    times(await history(2)),
    [3602, 3604, 3606].map((at) => at + 4 + 2),
  );
  t.is((await history(300)).length, 2);
  clock.jump(-3_600_000);
  await sample(3);
  const points = await history(2);
  t.deepEqual(times(points).slice(-3), [14, 16, 18]);
  t.true(
    points.every(({ t: at }) => at * 1000 <= clock.now()),
    'no point lies ahead of the clock',
  );
  t.deepEqual(panel.faults, []);
});

test('other metrics and buckets are refused by name', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  const bad = { status: 400, code: 'KERNEL_INVALID' };
  for (const metric of ['swapped', 'CPU', '__proto__'])
    await refused(t, panel, `/panel/api/server/history/${metric}/2`, {}, { ...bad, field: 'metric' });
  for (const bucket of ['1', '0', '-2', '2.5', 'x', '360', '1e9'])
    for (const path of ['history/cpu', 'cpuHistory'])
      await refused(t, panel, `/panel/api/server/${path}/${bucket}`, {}, { ...bad, field: 'bucket' });
});

test('without time-series the status works and the history is empty', async (t) => {
  const { panel, sample } = await boot(['time-series']);
  await using _ = panel;
  await sample(3);
  t.deepEqual(await panel.get('/panel/api/server/history/cpu/2'), []);
  t.truthy(await panel.get('/panel/api/server/status'));
  t.deepEqual(panel.faults, []);
});
