import { writeFile } from 'node:fs/promises';
import test from 'ava';
import { endOf, logOf, type Place } from '../one-start.js';
import { folderOf } from './world.js';

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
