// One series on a real file: what comes back after a restart, and after whatever can happen to a file.
import test, { type ExecutionContext } from 'ava';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testUnless } from '../../../test/harness/left-out.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';
import { counter, gauge, type TieredSeries } from '../contract.js';
import { Recorder } from '../recorder.js';
import { bytesOfKey, KEY_HEADER_BYTES, SLOT_BYTES, TIERS } from '../tiers.js';
import { folderFor, keptLog } from './folder.js';

const testWithDisk = testUnless(SmallDisk.obstacle());

const NOW = Date.UTC(2026, 0, 15, 12);
const HEADER = 128;
const load = gauge({ name: 'a.load', unit: '', mostKeys: 3 });
const bytes = counter({ name: 'a.bytes', unit: 'B' });

interface Opened {
  readonly recorder: Recorder;
  readonly lines: string[];
  readonly add: (value: number, at: number, key?: string) => boolean;
}
async function open(t: ExecutionContext, path: string, series: TieredSeries = load): Promise<Opened> {
  const { log, lines } = keptLog();
  const recorder = new Recorder(series, path, log);
  await recorder.open();
  t.teardown(() => recorder.close().catch(() => undefined));
  const add = (value: number, at: number, key = '') => recorder.add(key, value, at, at);
  return { recorder, lines, add };
}
const fileIn = async (t: ExecutionContext) => join(await folderFor(t), 'a.load.series');
/** Points of a tier around NOW: ms from NOW, and mean or sum. */
async function points(recorder: Recorder, tier = 0, key = ''): Promise<[number, number][]> {
  const { step } = TIERS[tier] as (typeof TIERS)[number];
  const middle = Math.floor(NOW / step);
  const found = await recorder.read(key, tier, middle - 100, middle + 100);
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([bucket, { sum, count }]) => [
      bucket * step - NOW,
      recorder.series.kind === 'gauge' ? sum / count : sum,
    ]);
}

test('samples add up in all tiers, before and after they are written, and in the next process', async (t) => {
  const path = await fileIn(t);
  const first = await open(t, path);
  for (const [value, at] of [
    [1, 0],
    [3, 1_000],
    [8, 2_000],
  ] as const)
    first.add(value, NOW + at);
  const expected: [number, number][] = [
    [0, 2],
    [2_000, 8],
  ];
  t.deepEqual(await points(first.recorder), expected);
  await first.recorder.flush();
  t.deepEqual(await points(first.recorder), expected);
  t.deepEqual(await points(first.recorder, 2), [[0, 4]]);
  await first.recorder.close();

  const second = await open(t, path);
  t.deepEqual(await points(second.recorder), expected);
  second.add(8, NOW + 3_000);
  second.add(0, NOW + 20_000);
  await second.recorder.flush();
  t.deepEqual(await points(second.recorder), [...expected, [20_000, 0]]);
  t.deepEqual(await points(second.recorder, 1), [[0, 4]], 'continues the point of the previous process');
  const [[, { min, max, count } = {}] = []] = [
    ...(await second.recorder.read('', 1, NOW / 60_000, NOW / 60_000)),
  ];
  t.deepEqual([min, max, count], [0, 8, 5]);
  t.is((await stat(path)).mode & 0o777, 0o600);
  t.deepEqual(second.lines, []);
});

test('counters add up', async (t) => {
  const path = await fileIn(t);
  const first = await open(t, path, bytes);
  first.add(5, NOW);
  await first.recorder.flush();
  first.add(7, NOW + 1);
  await first.recorder.flush();
  first.add(2, NOW + 4_000);
  t.deepEqual(await points(first.recorder), [
    [0, 12],
    [4_000, 2],
  ]);
  t.deepEqual(await points(first.recorder, 1), [[0, 14]]);
});

test('a clock that is set back adds to what is there; one that was far ahead costs a point of each tier', async (t) => {
  const { recorder, add } = await open(t, await fileIn(t), bytes);
  add(1, NOW);
  await recorder.flush();
  add(1, NOW + 10_000);
  await recorder.flush();
  add(5, NOW);
  await recorder.flush();
  const expected: [number, number][] = [
    [0, 6],
    [10_000, 1],
  ];
  t.deepEqual(await points(recorder), expected);
  // Years ahead, at the place of the ring that NOW + 20 s has.
  const ring = (TIERS[0]?.slots ?? 0) * 2_000;
  add(99, NOW + 20_000 + 100_000 * ring);
  await recorder.flush();
  t.deepEqual(await points(recorder), expected);
  add(2, NOW + 20_000);
  await recorder.flush();
  t.deepEqual(await points(recorder), [...expected, [20_000, 2]]);
});

test('a late sample that is too old for the fine points takes none of their places', async (t) => {
  const { recorder, add } = await open(t, await fileIn(t), bytes);
  add(1, NOW);
  await recorder.flush();
  recorder.add('', 50, NOW - (TIERS[0]?.slots ?? 0) * 2_000, NOW);
  await recorder.flush();
  t.deepEqual(await points(recorder), [[0, 1]]);
  t.deepEqual(await points(recorder, 1), [
    [-62 * 60_000, 50],
    [0, 1],
  ]);
});

test('what waits in memory is bounded, however many points there are', async (t) => {
  const { recorder, add } = await open(t, await fileIn(t), bytes);
  for (let i = 0; i < 90; i++) add(1, NOW + i * 2_000);
  const times = (await points(recorder)).map(([at]) => at);
  t.deepEqual([times.length, times[0]], [64, 26 * 2_000], 'the newest stay');
});

test('whoever reads while points move to the disk sees each sample once', async (t) => {
  const { recorder, add } = await open(t, await fileIn(t), bytes);
  for (let i = 1; i <= 100; i++) {
    add(1, NOW);
    const flush = recorder.flush();
    const reads = await Promise.all([points(recorder), points(recorder), flush.then(() => points(recorder))]);
    t.deepEqual(reads, [[[0, i]], [[0, i]], [[0, i]]]);
  }
});

test('thirty days of ticks every two seconds: a file of constant size, with all that the tiers promise', async (t) => {
  const path = await fileIn(t);
  const { recorder, add } = await open(t, path, bytes);
  const size = HEADER + bytesOfKey('counter');
  const ticks = (30 * 86_400) / 2;
  const start = NOW - 2_000 * (ticks - 1);
  for (let i = 0; i < ticks; i++) {
    add(1, start + i * 2_000);
    if (i % 60 === 59) await recorder.flush();
  }
  await recorder.flush();
  t.is((await stat(path)).size, size);
  for (const [tier, span] of [3_600_000, 2 * 86_400_000, 30 * 86_400_000].entries()) {
    const { step } = TIERS[tier] as (typeof TIERS)[number];
    const last = Math.floor(NOW / step);
    const found = await recorder.read('', tier, last - span / step + 1, last - 1);
    t.is(found.size, span / step - 1);
    t.true([...found.values()].every(({ sum }) => sum === step / 2_000));
  }
});

test('a key has room of its own; one that is forgotten leaves nothing to the next', async (t) => {
  const path = await fileIn(t);
  const first = await open(t, path);
  for (const [i, key] of ['x', 'y', 'ß🙂'].entries()) t.true(first.add(i, NOW, key));
  t.false(first.add(1, NOW, 'one too many'));
  await first.recorder.flush();
  const { size } = await stat(path);
  await first.recorder.forget('y');
  t.true(first.add(7, NOW + 2_000, 'z'));
  await first.recorder.flush();
  t.deepEqual(await points(first.recorder, 0, 'z'), [[2_000, 7]]);
  t.is((await stat(path)).size, size);
  await first.recorder.close();
  const second = await open(t, path);
  t.deepEqual([...(await second.recorder.keys())].sort(), ['x', 'z', 'ß🙂'].sort());
  t.deepEqual(await points(second.recorder, 0, 'ß🙂'), [[0, 2]]);
  t.deepEqual(await points(second.recorder, 0, 'y'), []);
});

async function written(t: ExecutionContext): Promise<string> {
  const path = await fileIn(t);
  const { recorder, add } = await open(t, path);
  for (let i = 0; i < 10; i++) for (const key of ['x', 'y']) add(i, NOW + i * 2_000, key);
  await recorder.flush();
  await recorder.close();
  return path;
}

test('a torn point is a hole, and is written again', async (t) => {
  const path = await written(t);
  const slot = (NOW / 2_000 + 4) % (TIERS[0]?.slots ?? 1);
  const place = HEADER + KEY_HEADER_BYTES + slot * SLOT_BYTES.gauge;
  const torn = await readFile(path);
  torn.fill(0xff, place + 20, place + 30);
  await writeFile(path, torn);
  const { recorder, lines, add } = await open(t, path);
  const times = (await points(recorder, 0, 'x')).map(([at]) => at);
  t.deepEqual(times, [0, 2_000, 4_000, 6_000, 10_000, 12_000, 14_000, 16_000, 18_000]);
  t.deepEqual(lines, []);
  add(4, NOW + 8_000, 'x');
  await recorder.flush();
  t.deepEqual((await points(recorder, 0, 'x'))[4], [8_000, 4]);
});

test('a file that was cut off keeps what is whole', async (t) => {
  const path = await written(t);
  await truncate(path, HEADER + bytesOfKey('gauge') + 700);
  const { recorder, lines, add } = await open(t, path);
  t.deepEqual(lines, ['the file of a series has a wrong size; keeping its complete points']);
  t.is((await points(recorder, 0, 'x')).length, 10);
  t.deepEqual(await points(recorder, 0, 'y'), []);
  add(1, NOW, 'y');
  await recorder.flush();
  t.is((await stat(path)).size, HEADER + 2 * bytesOfKey('gauge'));
  t.deepEqual(await points(recorder, 0, 'y'), [[0, 1]]);
});

test('of the last key of a file that was cut off the points before the cut stay', async (t) => {
  const path = await written(t);
  const slot = (NOW / 2_000 + 5) % (TIERS[0]?.slots ?? 1);
  await truncate(path, HEADER + bytesOfKey('gauge') + KEY_HEADER_BYTES + slot * SLOT_BYTES.gauge);
  const { recorder } = await open(t, path);
  t.deepEqual(await recorder.keys(), ['x', 'y']);
  t.deepEqual(
    (await points(recorder, 0, 'y')).map(([at]) => at),
    [0, 2_000, 4_000, 6_000, 8_000],
  );
});

test('a file that is too long, with garbage at its end, is cut to what it may be', async (t) => {
  const path = await written(t);
  await writeFile(path, Buffer.concat([await readFile(path), Buffer.alloc(3_000_000, 0xa5)]));
  const { recorder, lines } = await open(t, path);
  t.deepEqual(lines, ['the file of a series has a wrong size; keeping its complete points']);
  t.is((await stat(path)).size, HEADER + 3 * bytesOfKey('gauge'));
  t.deepEqual(await recorder.keys(), ['x', 'y']);
});

for (const [what, content] of [
  ['garbage', Buffer.alloc(50_000, 0x5a)],
  ['zeros', Buffer.alloc(50_000)],
  ['a few bytes', Buffer.from('weir ser')],
  ['a file of another kind of series', undefined],
] as const)
  test(`${what} in place of a file is set aside, and recording goes on`, async (t) => {
    const path = await fileIn(t);
    if (content) await writeFile(path, content);
    else {
      const other = await open(t, path, bytes);
      other.add(1, NOW);
      await other.recorder.flush();
      await other.recorder.close();
    }
    const before = await readFile(path);
    const { recorder, lines, add } = await open(t, path);
    t.deepEqual(lines, ['the file of a series cannot be read; renaming it and starting a new one']);
    t.deepEqual(await readFile(`${path}.unreadable`), before);
    add(3, NOW);
    await recorder.flush();
    t.deepEqual(await points(recorder), [[0, 3]]);
  });

testWithDisk('a full disk: coarse points wait until there is room, and nothing counts twice', async (t) => {
  const disk = SmallDisk.mount(t, 2);
  const path = join(disk.path, 'a.bytes.series');
  const { recorder, add } = await open(t, path, bytes);
  disk.fill();
  for (let i = 0; i < 100; i++) {
    add(1, NOW + i * 2_000);
    if (i % 10 === 0) await t.throwsAsync(recorder.flush(), { code: 'ENOSPC' });
  }
  disk.free();
  await recorder.flush();
  await recorder.close();
  const { recorder: next } = await open(t, path, bytes);
  t.deepEqual(await points(next, 1), [
    [0, 30],
    [60_000, 30],
    [120_000, 30],
    [180_000, 10],
  ]);
  t.is((await points(next)).length, 64, 'of the finest tier the last two minutes');
});
