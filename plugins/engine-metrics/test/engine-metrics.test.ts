import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { refused } from '../../../test/harness/refused.js';
import { MOST_TAGS } from '../series.js';

const NOW = Date.UTC(2026, 0, 15, 12);
const METRICS = ['xrAlloc', 'xrSys', 'xrHeapObjects', 'xrNumGC', 'xrPauseNs'];
const RUNTIME = {
  heapBytes: 1000,
  systemBytes: 2000,
  liveObjects: 30,
  collections: 4,
  pausedNs: 400,
  goroutines: 9,
  uptime: 8,
};
interface Point {
  readonly t: number;
  readonly v: number;
}
interface Observed {
  readonly tag: string;
  readonly delay: number;
}

async function boot(without: readonly string[] = []) {
  const clock = new FakeClock(NOW);
  const engine = new FakeEngine();
  engine.runtime = RUNTIME;
  const panel = await TestPanel.boot({ plugins: [engine.plugin], clock, without });
  const sample = async (times = 1) => {
    for (let i = 0; i < times; i++) {
      clock.tick(2000);
      await panel.kernel.settled();
    }
  };
  const server = <T>(path: string) => panel.get<T>(`/panel/api/server/${path}`);
  const history = async (metric: string, bucket = 2) =>
    (await server<Point[]>(`engineMetricsHistory/${metric}/${bucket}`)).map(({ t: at, v }) => [
      at - NOW / 1000,
      v,
    ]);
  const delays = async (tag: string, bucket = 2) =>
    (await server<Point[]>(`engineObservatoryHistory/${encodeURIComponent(tag)}/${bucket}`)).map(
      ({ v }) => v,
    );
  const probe = (tag: string, delay: number, more: object = {}) => ({
    tag,
    alive: true,
    delay,
    lastError: '',
    lastSeen: 5,
    lastTry: 6,
    ...more,
  });
  return { panel, clock, engine, sample, server, history, delays, probe };
}

test('each metric has a point for each sample, and a gap while no core runs', async (t) => {
  const { panel, engine, sample, history, server } = await boot();
  await using _ = panel;
  for (const metric of METRICS) t.deepEqual(await history(metric), []);
  await sample();
  t.deepEqual(await Promise.all(METRICS.map((metric) => history(metric))), [
    [[2, 1000]],
    [[2, 2000]],
    [[2, 30]],
    [[2, 4]],
    [[2, 100]],
  ]);
  t.deepEqual(await server('engineMetricsState'), { enabled: true, listen: '', reason: '' });
  engine.running = false;
  await sample(2);
  t.deepEqual(await server('engineMetricsState'), {
    enabled: false,
    listen: '',
    reason: 'the core does not run',
  });
  engine.running = true;
  engine.runtime = { ...RUNTIME, heapBytes: 500 };
  engine.restart('second');
  await sample();
  t.deepEqual(await history('xrAlloc'), [
    [2, 1000],
    [8, 500],
  ]);
  t.deepEqual(await history('xrAlloc', 60), [[0, 750]]);
  t.deepEqual(panel.faults, []);
});

test('a pause is the mean of the collections since the last sample, and a new core begins again', async (t) => {
  const { panel, engine, sample, history } = await boot();
  await using _ = panel;
  const pause = async (collections: number, pausedNs: number) => {
    engine.runtime = { ...RUNTIME, collections, pausedNs };
    await sample();
    return (await history('xrPauseNs')).at(-1)?.[1];
  };
  t.is(await pause(4, 400), 100);
  t.is(await pause(6, 700), 150);
  t.is(await pause(6, 700), 150, 'nothing was collected');
  engine.restart('second');
  t.is(await pause(10, 80), 8);
  engine.restart('third');
  t.is(await pause(0, 0), 0);
});

test('a core that does not answer is a gap with a reason, and no fault', async (t) => {
  const { panel, engine, sample, history, server } = await boot();
  await using _ = panel;
  engine.runtime = new Error('GetSysStats: the core did not answer');
  await sample();
  t.deepEqual(await server('engineMetricsState'), {
    enabled: false,
    listen: '',
    reason: 'GetSysStats: the core did not answer',
  });
  engine.runtime = undefined;
  await sample();
  t.like(await server('engineMetricsState'), { reason: 'the core does not answer' });
  engine.runtime = RUNTIME;
  await sample();
  t.like(await server('engineMetricsState'), { enabled: true, reason: '' });
  t.is((await history('xrSys')).length, 1);
  t.deepEqual(panel.faults, []);
});

test('outbounds are shown by tag; one that is not alive has a gap in its history', async (t) => {
  const { panel, clock, engine, sample, server, delays, probe } = await boot();
  await using _ = panel;
  engine.probes = [probe('ü/b', 20), probe('a', 10)];
  await sample();
  const updatedAt = Math.floor(clock.now() / 1000);
  t.deepEqual(await server('engineObservatory'), [
    { tag: 'a', alive: true, delay: 10, lastSeenTime: 5, lastTryTime: 6, lastError: '', updatedAt },
    { tag: 'ü/b', alive: true, delay: 20, lastSeenTime: 5, lastTryTime: 6, lastError: '', updatedAt },
  ]);
  engine.probes = [probe('a', 0, { alive: false, lastError: 'refused' })];
  await sample();
  const [first, ...others] = await server<Observed[]>('engineObservatory');
  t.like(first, { tag: 'a', alive: false, delay: 99_999_999, lastError: 'refused' });
  t.deepEqual(others, []);
  engine.probes = [probe('a', 30)];
  await sample();
  t.deepEqual(await delays('a'), [10, 30]);
  t.deepEqual(await delays('a', 300), [20]);
  t.deepEqual(await delays('ü/b'), [20], 'its history stays');
});

test('what a core said that is gone is not shown any more', async (t) => {
  const { panel, engine, sample, server, delays, probe } = await boot();
  await using _ = panel;
  engine.probes = [probe('a', 10)];
  await sample();
  engine.running = false;
  await sample();
  t.deepEqual(await server('engineObservatory'), []);
  t.deepEqual(await delays('a'), [10]);
  engine.running = true;
  engine.restart('second');
  engine.probes = undefined;
  await sample();
  t.deepEqual(await server('engineObservatory'), []);
  engine.probes = [probe('a', 11)];
  await sample(5);
  t.deepEqual(await server('engineObservatory'), [], 'a core without an observatory is asked once a minute');
  await sample(30);
  t.is((await server<Observed[]>('engineObservatory')).length, 1);
});

test('the number of histories is bounded: the one that is not observed for longest makes room', async (t) => {
  const { panel, engine, sample, server, delays, probe } = await boot();
  await using _ = panel;
  const tags = Array.from({ length: MOST_TAGS }, (_, i) => `out-${i}`);
  engine.probes = [...tags.map((tag) => probe(tag, 1)), probe('x'.repeat(129), 1), probe('', 1)];
  await sample();
  t.is((await server<Observed[]>('engineObservatory')).length, MOST_TAGS + 2);
  t.deepEqual(await delays('out-127'), [1]);
  await refused(
    t,
    panel,
    `/panel/api/server/engineObservatoryHistory/${'x'.repeat(129)}/2`,
    {},
    { status: 400, code: 'KERNEL_INVALID', field: 'tag' },
  );

  engine.probes = [...tags.map((tag) => probe(tag, 2)), probe('more', 3)];
  await sample(2);
  t.deepEqual(await delays('more'), [], 'all others are observed');
  t.is(panel.log.filter((line) => line.includes('more outbounds than have a history')).length, 1);

  engine.probes = tags.filter((tag) => tag !== 'out-1').map((tag) => probe(tag, 2));
  await sample();
  engine.probes = [...tags.slice(2).map((tag) => probe(tag, 2)), probe('more', 3)];
  await sample();
  t.deepEqual(await delays('more'), [3]);
  t.true((await delays('out-0')).length > 0, 'it was observed later than the other one');
  await refused(
    t,
    panel,
    '/panel/api/server/engineObservatoryHistory/out-1/2',
    {},
    {
      status: 404,
      code: 'ENGINE_METRICS_UNKNOWN_TAG',
      field: 'tag',
      says: 'no outbound out-1 is observed; tag must be one of more, out-0, out-10',
    },
  );
  t.deepEqual(panel.faults, []);
});

test('histories outlive the panel, and count for the bound', async (t) => {
  const first = await boot();
  first.engine.probes = [first.probe('a', 10)];
  await first.sample();
  const { dataDirectory } = first.panel;
  await first.panel.kernel.stop('a test');
  const clock = new FakeClock(NOW + 10_000);
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], clock, dataDirectory });
  t.is((await panel.get<Point[]>('/panel/api/server/engineObservatoryHistory/a/2'))[0]?.v, 10);
});

test('other metrics, buckets and tags are refused by name, with those that are allowed', async (t) => {
  const { panel } = await boot();
  await using _ = panel;
  const bad = { status: 400, code: 'KERNEL_INVALID' };
  for (const metric of ['cpu', 'XRALLOC', '__proto__'])
    await refused(
      t,
      panel,
      `/panel/api/server/engineMetricsHistory/${metric}/2`,
      {},
      { ...bad, field: 'metric', says: 'xrAlloc' },
    );
  for (const bucket of ['1', '0', '-2', '2.5', 'x', '360'])
    for (const path of ['engineMetricsHistory/xrAlloc', 'engineObservatoryHistory/a'])
      await refused(
        t,
        panel,
        `/panel/api/server/${path}/${bucket}`,
        {},
        { ...bad, field: 'bucket', says: bucket === '1' ? '2, 30, 60, 120, 180, 300' : '' },
      );
  await refused(
    t,
    panel,
    '/panel/api/server/engineObservatoryHistory/direct/2',
    {},
    { status: 404, code: 'ENGINE_METRICS_UNKNOWN_TAG', field: 'tag', says: 'the core observes none' },
  );
});

test('without time-series the present is shown and the history is empty', async (t) => {
  const { panel, engine, sample, server, history, delays, probe } = await boot(['time-series']);
  await using _ = panel;
  engine.probes = [probe('a', 10)];
  await sample(2);
  t.like(await server('engineMetricsState'), { enabled: true });
  t.is((await server<Observed[]>('engineObservatory')).length, 1);
  t.deepEqual([await history('xrSys'), await delays('a')], [[], []]);
  t.deepEqual(panel.faults, []);
});
