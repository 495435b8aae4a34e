// Backups of the schedule on a disk that is full: a sentence, nothing half, and the panel goes on.
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onSqlite } from '../../../test/harness/database.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';
import type { ListedBackup } from '../archive/record.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
const run = testUnless(onSqlite ? SmallDisk.obstacle() : 'the database is not on this disk');

run('a full disk, here and at the target', async (t) => {
  const [disk, target] = [SmallDisk.mount(t, 48), SmallDisk.mount(t, 2)];
  const dataDirectory = join(disk.path, 'data');
  await mkdir(dataDirectory);
  const panel = await ProgramPanel.start({ dataDirectory, env: ENV });
  t.teardown(() => panel.stop());
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const backup = () => panel.call<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
  const list = () => panel.get<ListedBackup[]>('/panel/api/x/backup/list');
  const files = async (folder: string) =>
    (await readdir(folder)).filter((name) => name !== '.schedule.json').sort();

  await panel.get('/panel/api/setting/update', { body: { backupFolder: target.path } });
  target.fill();
  const first = await backup();
  t.is(first.status, 200, first.text);
  t.regex(first.body.obj.copies['folder']?.problem ?? '', /ENOSPC|no space/);
  const { guid } = first.body.obj.manifest;
  t.deepEqual(await readdir(join(target.path, guid)).catch(() => []), [], 'nothing half at the target');
  await panel.get('/panel/api/setting/update', { body: { backupFolder: '' } });

  const folder = join(dataDirectory, 'backups');
  const before = await files(folder);
  disk.fill();
  const failed = await backup();
  t.is(failed.status, 507, failed.text);
  t.regex(failed.body.msg ?? '', /^the backup cannot be made: /);
  t.deepEqual(await files(folder), before);
  t.deepEqual(
    (await readdir(dataDirectory)).filter((name) => name.startsWith('restore')),
    [],
  );
  t.is((await panel.call('/panel/api/clients/get/ann')).status, 200, 'the panel goes on');
  t.is((await list()).length, 1);
  const { problem } = await panel.get<{ problem: string }>('/panel/api/x/backup/status');
  t.regex(problem, /the backup cannot be made/);

  // Deleting a backup makes room, although nothing can be recorded now.
  const { name } = first.body.obj.manifest;
  const removed = await panel.call(`/panel/api/x/backup/delete/${name}`, { body: { force: true } });
  t.is(removed.status, 200, removed.text);
  t.deepEqual(await list(), []);

  disk.free();
  const done = await backup();
  t.is(done.status, 200, done.text);
  t.is(done.body.obj.verification.state, 'verified');
  t.is((await panel.get<{ problem: string }>('/panel/api/x/backup/status')).problem, '');
});
