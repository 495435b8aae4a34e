// Copies and restores on a disk that is full: an error that says so, nothing left behind, and the panel goes on.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onSqlite } from '../../../test/harness/database.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { SmallDisk } from '../../../test/harness/small-disk.js';
import { weirCommand } from '../../../test/harness/weir-command.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
const run = testUnless(onSqlite ? SmallDisk.obstacle() : 'the database is not on this disk');

run('a full disk', async (t) => {
  const disk = SmallDisk.mount(t, 48);
  const dataDirectory = join(disk.path, 'data');
  await mkdir(dataDirectory);
  const panel = await ProgramPanel.start({ dataDirectory, env: ENV });
  t.teardown(() => panel.stop());
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const download = () => fetch(`${panel.url}/panel/api/server/getDb`, { headers: { cookie: panel.cookie } });
  const backup = Buffer.from(await (await download()).arrayBuffer());
  const restore = async () => {
    const form = new FormData();
    form.append('db', new Blob([backup]), 'backup.db');
    return fetch(`${panel.url}/panel/api/server/importDB`, {
      method: 'POST',
      headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
      body: form,
    });
  };
  const backups = async () => (await readdir(join(dataDirectory, 'backups')).catch(() => [])).length;
  const stored = await backups();

  disk.fill();
  const copied = await download();
  t.is(copied.status, 507, await copied.text());
  const written = await weirCommand(dataDirectory, ['backup']);
  t.is(written.code, 1);
  t.regex(written.complained, /cannot be copied/);
  t.is(await backups(), stored);
  const restored = await restore();
  t.true(restored.status >= 400, `${restored.status}`);
  t.true((await panel.call('/panel/api/clients/get/ann')).status === 200, 'the panel goes on');
  t.deepEqual(
    (await readdir(dataDirectory)).filter((name) => name.startsWith('restore')),
    [],
  );
  t.deepEqual(await readdir(join(dataDirectory, 'snapshots')), []);

  // Room for the upload, and not for the database that is made of it.
  disk.free();
  await writeFile(join(disk.path, 'ballast'), Buffer.alloc(1));
  const path = join(tmpdir(), `weir-full-disk-${process.pid}.db`);
  t.teardown(() => import('node:fs/promises').then(({ rm }) => rm(path, { force: true })));
  await writeFile(path, backup);
  disk.fill();
  const local = await weirCommand(dataDirectory, ['restore', path], ENV);
  t.is(local.code, 1, local.said);
  t.deepEqual(
    (await readdir(dataDirectory)).filter((name) => name.startsWith('restore')),
    [],
  );

  disk.free();
  t.is((await download()).status, 200);
  t.is((await restore()).status, 200);
  await panel.until(() => panel.said('the panel started again') !== undefined, 'the panel started again');
  t.true((await readFile(join(dataDirectory, 'weir.sqlite'))).length > 0);
});
