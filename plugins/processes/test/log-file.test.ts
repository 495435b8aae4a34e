import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { cutLog } from '../log-file.js';
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
