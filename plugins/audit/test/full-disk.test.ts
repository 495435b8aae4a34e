// A full disk: no change without its entry, no entry without its change, acts go on, and all of it works again when there is room.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { onSqlite } from '../../../test/harness/database.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';

interface Change {
  readonly kind: string;
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}
const run = testUnless(onSqlite ? SmallDisk.obstacle() : 'the database is not on this disk');

run('a full disk loses no entry and keeps nobody from recording afterwards', async (t) => {
  const disk = SmallDisk.mount(t, 24);
  const dataDirectory = join(disk.path, 'data');
  await mkdir(dataDirectory);
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({ plugins: [engine.plugin], dataDirectory });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.addClient('ada', [await panel.addInbound()]);
  const change = async (comment: string): Promise<number> =>
    (await panel.call('/panel/api/clients/update/ada', { body: { comment } })).status;
  const changes = () => panel.get<Change[]>('/panel/api/x/audit/changes?area=client&kind=updated&limit=200');
  t.is(await change('before'), 200);
  disk.fill();
  const done: string[] = ['before'];
  // What is larger than the last free page; a short one may still fit.
  for (let i = 0; i < 8; i++) {
    const comment = `${i}`.repeat(200);
    if ((await change(comment)) === 200) done.push(comment);
  }
  t.true(done.length < 9, 'the disk is full');
  const begun = Date.now();
  t.is((await panel.call('/panel/api/clients/export')).status, 200, 'an act goes on');
  t.true(Date.now() - begun < 10_000);
  disk.free();
  t.is(await change('after'), 200);
  done.push('after');
  const recorded = (await changes()).toReversed().map(({ fields }) => fields['comment']?.[1]);
  t.deepEqual(recorded, done, 'one entry for each change that was saved');
  t.is((await panel.get<{ comment: string }>('/panel/api/clients/get/ada')).comment, 'after');
  const { problems } = await panel.get<{ problems: string[] }>('/panel/api/x/audit/verify', {
    method: 'POST',
  });
  t.deepEqual(problems, []);
  t.true(panel.log.some((line) => line.includes('an act is missing in the record of changes')));
});
