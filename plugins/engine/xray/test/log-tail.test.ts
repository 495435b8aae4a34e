import { appendFile, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readBackwards } from '../log-tail.js';

test('lines come from the last to the first, as many as are wanted', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tail-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'access.log');
  const read = async (most = 2 ** 30, count = Infinity): Promise<string[]> => {
    const lines: string[] = [];
    await readBackwards([path], most, (line) => lines.push(line) < count);
    return lines;
  };
  t.deepEqual(await read(), [], 'no file');
  await writeFile(path, '');
  t.deepEqual(await read(), []);
  await writeFile(path, 'half a line');
  t.deepEqual(await read(), []);
  await writeFile(path, 'one\n');
  t.deepEqual(await read(), ['one']);
  await writeFile(path, '\none\n\ntwo\nhalf');
  t.deepEqual(await read(), ['two', 'one']);
  // Lines of all lengths, over the ends of chunks.
  const lines = Array.from({ length: 2000 }, (_, i) => `${i} ü`.padEnd(i % 211, 'x'));
  await writeFile(path, `${lines.join('\n')}\n`);
  t.deepEqual(await read(), lines.toReversed());
  t.deepEqual(await read(2 ** 30, 3), lines.slice(-3).toReversed());
  const some = await read(1000);
  t.true(some.length > 2 && some.length < 100);
  t.deepEqual(some, lines.slice(-some.length).toReversed(), 'no half a line where the limit is');
  // A line that is too long is left out, and those around it are not.
  await writeFile(path, `before\n${'x'.repeat(300_000)}\nafter\n`);
  t.deepEqual(await read(), ['after', 'before']);
  await writeFile(path, 'x'.repeat(300_000));
  await appendFile(path, '\nafter\n');
  t.deepEqual(await read(), ['after']);
});

test('each line has its place, over the parts of a log, whatever comes after it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tail-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const [path, older, oldest] = ['a', 'a.1', 'a.2'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const read = async (begin: number): Promise<[string, number][]> => {
    const found: [string, number][] = [];
    const paths = [path, older, oldest];
    await readBackwards(paths, 2 ** 30, (line, place) => found.push([line, place]) > 0, begin);
    return found.reverse();
  };
  await writeFile(path, 'one\ntwo\nha');
  t.deepEqual(await read(0), [
    ['one', 4],
    ['two', 8],
  ]);
  await appendFile(path, 'lf\n');
  t.deepEqual((await read(0)).at(-1), ['half', 13]);
  // It is cut: places stay.
  await rename(path, older);
  await writeFile(path, 'next\n');
  t.deepEqual(await read(13), [
    ['one', 4],
    ['two', 8],
    ['half', 13],
    ['next', 18],
  ]);
  await rename(older, oldest);
  await rename(path, older);
  await writeFile(path, `${'x'.repeat(300_000)}\nlast\n`);
  t.deepEqual((await read(18)).slice(2), [
    ['half', 13],
    ['next', 18],
    ['last', 18 + 300_006],
  ]);
});

test('the last lines of a gibibyte are a few reads', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tail-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'access.log');
  const file = await open(path, 'w');
  await file.truncate(2 ** 30);
  await file.write('\none\ntwo\n', 2 ** 30);
  await file.close();
  const lines: string[] = [];
  const before = process.memoryUsage.rss();
  await readBackwards([path], 8 * 2 ** 20, (line) => lines.push(line) < 100);
  t.deepEqual(lines, ['two', 'one'], 'the line of zeros is longer than any');
  t.true(process.memoryUsage.rss() - before < 32 * 2 ** 20);
});
