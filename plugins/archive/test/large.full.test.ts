// Runs alone: it measures the memory of its process.
// An archive of 100,000 clients is written and read piece by piece.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { folderFor } from '../../../test/harness/folder-for.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { archiveOf, boot, linesOf, upload } from './archive-world.js';

const CLIENTS = 100_000;
const MIB = 1024 * 1024;

test('100,000 clients go out and in again, and memory stays', async (t) => {
  t.timeout(30 * 60_000);
  await using old = await boot();
  const id = await old.addInbound();
  for (let from = 0; from < CLIENTS; from += 10_000)
    await old.get('/panel/api/clients/bulkCreate', {
      body: Array.from({ length: 10_000 }, (_, i) => ({
        client: { email: `client${from + i}@example.com`, totalGB: from + i },
        inboundIds: [id],
      })),
    });
  const file = join(await folderFor(t), 'panel.jsonl.gz');
  global.gc?.();
  const before = process.memoryUsage().rss;
  let most = before;
  const watch = setInterval(() => void (most = Math.max(most, process.memoryUsage().rss)), 50);
  const done = await weirCommand(old.dataDirectory, ['export', file]);
  clearInterval(watch);
  t.is(done.code, 0, done.complained);
  t.regex(done.said, /clients: 100000/);
  t.log(
    `export: ${Math.round((most - before) / MIB)} MiB more, ${Math.round((await stat(file)).size / MIB)} MiB on the disk`,
  );
  t.true(most - before < 64 * MIB, `the export took ${Math.round((most - before) / MIB)} MiB`);

  await using fresh = await boot();
  const text = await archiveOf(old);
  const { status, body } = await upload(fresh, text, { apply: 'true' });
  t.is(status, 200, body.msg);
  const clients = body.obj.kinds.find(({ kind }) => kind === 'clients');
  t.is(clients?.taken, CLIENTS);
  for (const { after, archive } of clients?.sums ?? []) t.is(after, archive);
  t.is(linesOf(await archiveOf(fresh)).length, linesOf(text).length);
});
