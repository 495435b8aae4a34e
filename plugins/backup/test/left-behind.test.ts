// What a backup that was killed leaves goes at the next start.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { LocalFolder } from '../archive/local-folder.js';

test('a draft goes, and the journal that SQLite keeps beside it', async (t) => {
  const dataDirectory = await folderFor(t);
  const folder = join(dataDirectory, 'backups');
  await mkdir(folder);
  for (const ending of ['part', 'part-journal'])
    await writeFile(join(folder, `.weir_1795549599023.27227-0.${ending}`), '');
  const log = { info: () => undefined };
  await new LocalFolder({ dataDirectory, log: log as never }).start();
  t.deepEqual(await readdir(folder), []);
});
