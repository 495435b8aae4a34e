// A third-party plugin that records: what it can do, and what it cannot do to others.
import test from 'ava';
import { mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import {
  counter,
  dailyCounter,
  gauge,
  type Series,
  SeriesList,
  TimeSeries,
  type TimeSeriesApi,
} from '../contract.js';

const testWithDisk = testUnless(SmallDisk.obstacle());

const NOW = Date.UTC(2026, 0, 15, 12);
const MINUTE = 60_000;
const load = gauge({ name: 'acme.load', unit: '%', mostKeys: 2 });
const bytes = counter({ name: 'acme.bytes', unit: 'B' });
const usage = dailyCounter({ name: 'acme.usage', unit: 'B', days: 30 });

function acme(series: readonly Series[] = [load, bytes, usage]) {
  const given: { series: TimeSeriesApi } = { series: undefined as unknown as TimeSeriesApi };
  const plugin: Plugin = definePlugin({
    name: 'acme',
    version: '1.0.0',
    api: 1,
    about: 'Records.',
    uses: { store: TimeSeries },
    contributes: () => series.map((entry) => contribute(SeriesList, entry)),
    start: ({ store }) => void (given.series = store),
  });
  return { plugin, given };
}

interface World {
  readonly panel: TestPanel;
  readonly clock: FakeClock;
  readonly series: TimeSeriesApi;
}
async function boot(options: { dataDirectory?: string; now?: number } = {}): Promise<World> {
  const { plugin, given } = acme();
  const clock = new FakeClock(options.now ?? NOW);
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [plugin],
    clock,
    ...(options.dataDirectory !== undefined && { dataDirectory: options.dataDirectory }),
  });
  return { panel, clock, series: given.series };
}

test('what is added is read, with holes where nothing was, also after a restart', async (t) => {
  const first = await boot();
  await using panel = first.panel;
  first.series.add(load, 10, { key: 'a' });
  first.series.add(bytes, 5);
  first.clock.tick(2_000);
  first.series.add(load, 30, { key: 'a' });
  const read = ({ series }: World) =>
    series.read(load, { key: 'a', from: NOW - 2_000, to: NOW + 4_000, most: 10 });
  first.clock.tick(2_000);
  const expected = [
    { at: NOW - 2_000, mean: null, min: null, max: null },
    { at: NOW, mean: 10, min: 10, max: 10 },
    { at: NOW + 2_000, mean: 30, min: 30, max: 30 },
    { at: NOW + 4_000, mean: null, min: null, max: null },
  ];
  t.deepEqual(await read(first), { step: 2_000, points: expected });
  t.deepEqual((await first.series.read(load, { key: 'a', from: NOW, step: MINUTE })).points, [
    { at: NOW, mean: 20, min: 10, max: 30 },
  ]);
  t.deepEqual((await first.series.read(bytes, { from: NOW, step: MINUTE })).points, [{ at: NOW, sum: 5 }]);
  await panel.stop();

  const second = await boot({ dataDirectory: panel.dataDirectory, now: NOW + 10 * MINUTE });
  await using _ = second.panel;
  t.deepEqual(await read(second), { step: 2_000, points: expected });
  t.deepEqual(await second.series.keys(load), ['a']);
  second.series.add(load, 50, { key: 'a' });
  const { points } = await second.series.read(load, { key: 'a', from: NOW, step: MINUTE });
  t.deepEqual(
    points.map(({ mean }) => mean),
    [20, ...Array.from({ length: 9 }, () => null), 50],
    'the time in which no panel ran is a hole',
  );
  await second.panel.stop();
  const folder = join(panel.dataDirectory, 'time-series');
  t.is((await stat(folder)).mode & 0o777, 0o700);
  t.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('acme')),
    ['acme.bytes.series', 'acme.load.series'],
  );
});

test('a job writes what was added within ten seconds', async (t) => {
  const { panel, clock, series } = await boot();
  await using _ = panel;
  series.add(bytes, 5);
  const path = join(panel.dataDirectory, 'time-series', 'acme.bytes.series');
  t.is((await stat(path)).size, 128);
  clock.tick(10_000);
  await panel.kernel.settled();
  t.true((await stat(path)).size > 128);
});

test('what cannot be recorded or read is refused, with series and plugin', async (t) => {
  const { panel, series } = await boot();
  await using _ = panel;
  const refused = (call: () => unknown, message: RegExp) =>
    t.throws(call as () => void, { instanceOf: RangeError, message });
  for (const value of [Number.NaN, Infinity, -Infinity, 1e19, '5', null, undefined])
    refused(
      () => series.add(load, value as number),
      /^series acme\.load of plugin acme: the value .* finite/,
    );
  refused(
    () => series.add(bytes, -1),
    /^series acme\.bytes of plugin acme: the value -1 must not be below 0/,
  );
  for (const at of [NOW + 61_000, NOW - 31 * 86_400_000, Number.NaN, -1, 'now'])
    refused(
      () => series.add(load, 1, { at: at as number }),
      /acme\.load of plugin acme: the time .*at most a minute/,
    );
  for (const key of ['x'.repeat(129), '\ud800', 5])
    refused(() => series.add(load, 1, { key: key as string }), /acme\.load of plugin acme: the key /);
  refused(() => series.add(gauge({ name: 'acme.other', unit: '' }), 1), /acme\.other is not declared/);
  refused(() => series.add(undefined as never, 1), /is not declared/);
  refused(() => series.add(usage as never, 1), /acme\.usage is not declared/);
  for (const [span, message] of [
    [{ from: Number.NaN }, /from NaN/],
    [{ from: NOW, to: NOW - 1 }, /from not after to/],
    [{ from: NOW, to: NOW + 120_000 }, /future/],
    [{ from: NOW, most: 0 }, /most 0 must be 1 to 2000/],
    [{ from: NOW, most: 2_001 }, /most 2001/],
    [{ from: NOW, step: -5 }, /step -5/],
    [{ from: NOW, key: 7 as unknown as string }, /the key must be text/],
  ] as const)
    await t.throwsAsync(series.read(load, span), { instanceOf: RangeError, message });
  t.deepEqual(await series.keys(load), []);
  t.deepEqual(panel.faults, []);
});

test('a plugin that floods costs itself its keys and nothing else', async (t) => {
  const { panel, clock, series } = await boot();
  await using _ = panel;
  for (let i = 0; i < 20_000; i++)
    try {
      series.add(load, i, { key: `key ${i}`, at: NOW - i * 5_000 });
    } catch (error) {
      t.regex((error as Error).message, /plugin acme: it has 2 keys already.*forget one/);
    }
  for (let i = 0; i < 100_000; i++) series.add(bytes, 1, { at: NOW - (i % 10_000) * 2_000 });
  t.deepEqual(await series.keys(load), ['key 0', 'key 1']);
  await series.forget(load, 'key 0');
  series.add(load, 1, { key: 'another' });
  t.deepEqual(await series.keys(load), ['another', 'key 1']);
  clock.tick(10_000);
  await panel.kernel.settled();
  t.deepEqual(panel.faults, []);
  t.true((await panel.get<unknown[]>('/panel/api/server/history/load1/2')).length > 0);
});

test('a declaration that cannot be kept is refused at the start, with the way out', async (t) => {
  for (const [series, message] of [
    [gauge({ name: 'other.load', unit: '' }), /other\.load must be called acme\.…/],
    [gauge({ name: 'acme.../../x', unit: '' }), /needs a name like acme\.load/],
    [gauge({ name: 'acme.load', unit: 'x'.repeat(21) }), /unit of at most 20/],
    [
      gauge({ name: 'acme.load', unit: '', mostKeys: 0 }),
      /mostKeys of the series acme\.load must be 1 to 1000/,
    ],
    [gauge({ name: 'acme.load', unit: '', mostKeys: 1_001 }), /mostKeys/],
    [
      dailyCounter({ name: 'acme.use', unit: '', days: 401 }),
      /days of the series acme\.use must be 1 to 400/,
    ],
    [{ ...load, retention: 'forever' } as unknown as Series, /retention "forever"; make it with gauge/],
    [{ ...usage, kind: 'gauge' } as unknown as Series, /kind "gauge"; make it with/],
  ] as const) {
    const panel = await TestPanel.boot({
      plugins: [new FakeEngine().plugin],
      outside: [acme([series]).plugin],
      partial: true,
    });
    const state = panel.kernel.plugins().find(({ name }) => name === 'acme');
    await panel[Symbol.asyncDispose]();
    t.is(state?.state, 'failed');
    t.regex(state?.reason ?? '', message);
  }
});

test('the series of one plugin together have a limit', async (t) => {
  const many = Array.from({ length: 65 }, (_, i) => counter({ name: `acme.c${i}`, unit: '' }));
  const large = [1, 2].map((i) => gauge({ name: `acme.g${i}`, unit: '', mostKeys: 1_000 }));
  const twice = [load, gauge({ name: 'acme.LOAD', unit: '' })];
  for (const [series, message] of [
    [many, /may have 64 series; acme\.c64 is one too many/],
    [large, /with acme\.g2 .* may grow to \d+ MiB on disk, of which 512 are allowed; lower mostKeys/],
    [twice, /acme\.LOAD is declared twice/],
  ] as const) {
    const panel = await TestPanel.boot({
      plugins: [new FakeEngine().plugin],
      outside: [acme(series).plugin],
      partial: true,
    });
    const reason = panel.kernel.plugins().find(({ name }) => name === 'acme')?.reason;
    await panel[Symbol.asyncDispose]();
    t.regex(reason ?? '', message);
  }
});

testWithDisk('a full disk is logged once, and once when it has room again; nobody is blamed', async (t) => {
  const disk = SmallDisk.mount(t, 4);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  await symlink(disk.path, join(dataDirectory, 'time-series'));
  disk.fill();
  const { panel, clock, series } = await boot({ dataDirectory });
  await using _ = panel;
  const lines = () =>
    panel.log
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
      .filter((msg) => /^series can|^cannot write series/.test(msg));
  const minute = async () => {
    for (let i = 0; i < 6; i++) {
      series.add(bytes, 1);
      clock.tick(10_000);
      await panel.kernel.settled();
    }
  };
  await minute();
  await minute();
  t.deepEqual(lines(), ['cannot write series; keeping recent points in memory and retrying']);
  disk.free();
  await minute();
  t.deepEqual(lines().slice(1), ['series can be written again']);
  t.deepEqual(
    (await series.read(bytes, { from: NOW, step: MINUTE, most: 4 })).points.map((point) => point.sum),
    [6, 6, 6, null],
  );
  disk.fill();
  await minute();
  await panel.stop();
  t.deepEqual(panel.faults, []);
});
