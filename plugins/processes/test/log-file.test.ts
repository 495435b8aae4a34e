import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { cutLog } from '../log-file.js';
import { endOf, logOf, type Place } from '../one-start.js';
import { folderOf } from './world.js';

test('older logs keep their order, each is bounded, and there are no more of them than are wanted', async (t) => {
  const path = join(await folderOf(t), 'output.log');
  for (const sign of ['a', 'b', 'c', 'd', 'e']) {
    await appendFile(path, sign.repeat(9));
    await cutLog(path, { maxBytes: 5, keep: 3 });
  }
  const all = await Promise.all(['', '.1', '.2', '.3'].map((end) => readFile(path + end, 'utf8')));
  t.deepEqual(all, ['', 'eeeee', 'ddddd', 'ccccc']);
  await t.throwsAsync(readFile(`${path}.4`), { code: 'ENOENT' });
});

test('the reason of an end is the line that names the problem, else the last one', async (t) => {
  const place = { folder: await folderOf(t) } as Place;
  const reasonOf = async (log: string): Promise<string> => {
    await writeFile(logOf(place.folder), log);
    return (await endOf('exit code 1', place, 0)).message;
  };
  t.regex(
    await reasonOf('listening\nTypeError: no port\n    at main (a.js:1:2)\n\nNode.js v20.20.2\n'),
    /no port/,
  );
  t.regex(await reasonOf('panic: no tun\ngoroutine 1 [running]:\n'), /no tun/);
  t.regex(await reasonOf('listening\nbye\n'), /bye/);
});
