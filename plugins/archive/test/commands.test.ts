// `weir export` and `weir import archive`: files, their modes, and panels with records of their own.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { boot, linesOf } from './archive-world.js';

test('an archive goes into a panel that has records of its own, and what is there stays', async (t) => {
  await using old = await boot();
  const id = await old.addInbound({ remark: 'old' });
  await old.addClient('ann', [id], { totalGB: 1000 });
  await old.addClient('bob', [id]);
  const file = join(await folderFor(t), 'panel.jsonl.gz');
  const done = await weirCommand(old.dataDirectory, ['export', file]);
  t.is(done.code, 0, done.complained);
  t.regex(done.said, /clients: 2 \(sums: .*totalGB 1000/);
  t.is((await stat(file)).mode & 0o777, 0o600);
  const text = gunzipSync(await readFile(file)).toString();
  const again = await weirCommand(old.dataDirectory, ['export', file]);
  t.is(again.code, 1);
  t.regex(again.complained, /already exists; choose another name/);

  await using other = await boot();
  const own = await other.addInbound({ remark: 'own' });
  await other.addClient('ann', [own], { totalGB: 5 });
  const dry = await weirCommand(other.dataDirectory, ['import', 'archive', file]);
  t.is(dry.code, 0, dry.complained);
  t.regex(dry.said, /clients: 2 in the archive, 1 would be taken, 1 left/);
  t.regex(dry.said, /ann: a client with this email is here already/);
  t.is((await other.get<object[]>('/panel/api/clients/list')).length, 1);
  // The ports of the old panel are not in use here: it ran without a core.
  const applied = await weirCommand(other.dataDirectory, ['import', 'archive', file, '--apply']);
  t.is(applied.code, 0, applied.complained);
  t.regex(applied.said, /inbounds: 1 in the archive, 1 taken, 0 left/);
  const clients =
    await other.get<{ email: string; totalGB: number; inboundIds: number[] }[]>('/panel/api/clients/list');
  t.deepEqual(
    clients.map(({ email, totalGB, inboundIds }) => [email, totalGB, inboundIds.length]),
    [
      ['ann', 5, 1],
      ['bob', 0, 1],
    ],
  );
  t.true(linesOf(text).some(({ kind }) => kind === 'clients'));
});

test('paths that are wrong are named', async (t) => {
  await using panel = await boot();
  const folder = await folderFor(t);
  const said = async (...argv: string[]): Promise<string> => {
    const { code, complained } = await weirCommand(panel.dataDirectory, argv);
    t.is(code, 1, argv.join(' '));
    return complained;
  };
  t.regex(
    await said('export', join(folder, 'none', 'panel.jsonl')),
    /cannot be written: there is no folder \S+none\n/,
  );
  t.regex(await said('export', folder), /already exists; choose another name/);
  t.regex(await said('import', 'archive', join(folder, 'none')), /cannot be read: there is no such file/);
  t.regex(await said('import', 'archive', folder), /is not a file/);
  t.regex(
    await said('import', 'archive', join(panel.dataDirectory, 'weir.sqlite')),
    /is a SQLite database: `weir restore` takes a backup, and `weir import 3x-ui` the database of 3x-ui/,
  );
  await writeFile(join(folder, 'text'), 'hello\n');
  t.regex(await said('import', 'archive', join(folder, 'text')), /line 1 is not JSON.*nothing was changed/);
  t.regex(await said('export', '3x-ui', folder), /is not empty; choose a new folder/);
});
