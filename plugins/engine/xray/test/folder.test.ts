// What a killed panel was writing goes with the next start; what is being written stays.
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { folderFor } from '../../../../test/harness/folder-for.js';
import { EngineFolder } from '../folder.js';

test('half-written files that are older than this process are removed, however young', async (t) => {
  const path = await folderFor(t);
  const folder = new EngineFolder(path);
  await folder.withTemporary(['.json'], async (own = '') => {
    await writeFile(own, '{}');
    const left = join(path, 'tmp-of-a-killed-panel.json');
    await writeFile(left, '{}');
    const before = (performance.timeOrigin - 1000) / 1000;
    await utimes(left, before, before);
    await folder.prepare();
    const temporary = (await readdir(path)).filter((name) => name.startsWith('tmp-'));
    t.deepEqual(temporary, [own.slice(path.length + 1)]);
  });
});
