// Runs on every database in test:full.
// A backup moves a panel from SQLite to a database server and back, with equal rows.
import { onlyOn } from '../../../test/harness/left-out.js';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { databaseEnvironment, dropDatabase, onSqlite } from '../../../test/harness/database.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { SqliteFile } from '../../../panel/restore/sqlite-file.js';
import type { LastRestore } from '../contract.js';

const run = onlyOn(!onSqlite, 'a database server', test.serial);
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
/** Tables whose rows belong to one panel or to one moment. */
// A restored database begins a new epoch of usage for its centrals.
const OWN =
  /^(?:kernel_|sqlite_|settings$|panel_identity$|audit|secret|metrics|series|point|alarm|node_agent_epochs$)/;

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

async function start(
  t: ExecutionContext,
  isOnServer: boolean,
): Promise<ProgramPanel & { dataDirectory: string }> {
  const dataDirectory = await folderFor(t);
  const database = isOnServer ? await databaseEnvironment(dataDirectory) : { WEIR_DATABASE_URL: '' };
  const panel = await ProgramPanel.start({ dataDirectory, env: { ...ENV, ...database } });
  t.teardown(() => panel.stop());
  return Object.assign(panel, { dataDirectory });
}

async function download(panel: ProgramPanel, path: string): Promise<Buffer> {
  const response = await fetch(`${panel.url}/panel/api/server/getMigration`, {
    headers: { cookie: panel.cookie },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(bytes.toString());
  await writeFile(path, bytes);
  return bytes;
}

async function restore(t: ExecutionContext, panel: ProgramPanel, bytes: Buffer, key = ''): Promise<void> {
  const before = panel.log.length;
  const form = new FormData();
  form.append('secretsKey', key);
  form.append('db', new Blob([bytes as never]), 'backup.db');
  const response = await fetch(`${panel.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  t.is(response.status, 200, await response.text());
  await panel.until(
    () =>
      panel.log
        .slice(before)
        .some(({ msg }) => msg === 'the panel started again' || /^the restart failed/.test(msg)),
    'the panel started again',
    60_000,
  );
  await panel.login();
  t.like(await panel.get<LastRestore>('/panel/api/x/backup/restore'), { state: 'done', problem: '' });
}

async function rowsIn(path: string): Promise<Record<string, unknown[]>> {
  const file = await SqliteFile.open(path);
  try {
    const names = await file.rows<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    );
    const all: Record<string, unknown[]> = {};
    for (const { name } of names.filter((table) => !OWN.test(table.name)))
      all[name] = (await file.rows(`SELECT * FROM "${name}"`)).map((row) => JSON.stringify(row)).sort();
    return all;
  } finally {
    await file.close();
  }
}

run('SQLite to a server and back', async (t) => {
  const folder = await folderFor(t);
  const [first, second, third] = [await start(t, false), await start(t, true), await start(t, false)];
  const id = await first.addInbound();
  for (const email of ['ann', 'Bob', 'Çağla🦊', "o'hara", 'dot.dash-', 'gone'])
    await first.addClient(email, [id], {
      comment: 'it\'s "quoted" \\ 🦊',
      totalGB: 2 ** 50,
      expiryTime: 4_000_000_000_000,
    });
  await first.get('/panel/api/clients/del/gone', { method: 'POST' });
  const bytes = await download(first, join(folder, '1.db'));
  const key = await readFile(join(first.dataDirectory, 'secrets.key'), 'utf8');
  await restore(t, second, bytes, key);
  const moved = await download(second, join(folder, '2.db'));
  t.deepEqual(await rowsIn(join(folder, '2.db')), await rowsIn(join(folder, '1.db')));
  await restore(t, third, moved, await readFile(join(second.dataDirectory, 'secrets.key'), 'utf8'));
  await download(third, join(folder, '3.db'));
  t.deepEqual(await rowsIn(join(folder, '3.db')), await rowsIn(join(folder, '1.db')));
  t.true(Object.values(await rowsIn(join(folder, '1.db'))).flat().length > 10);

  // An id that was given once is not given again, on any of them.
  for (const panel of [second, third]) {
    const { id: next } = await panel.addClient('next', [id]);
    t.is(next, 7);
    t.deepEqual(panel.faults, []);
  }
  // Foreign keys lead to the tables that are in place now.
  await second.get('/panel/api/clients/del/ann', { method: 'POST' });
  // And once more, on a server that has the database of a restore before.
  await restore(t, second, bytes, key);
  const emails = (await second.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email);
  t.is(emails.length, 5);
  t.true(emails.includes('ann'));
  await second.get('/panel/api/clients/del/ann', { method: 'POST' });
  t.deepEqual(second.faults, []);
});

run('a backup with mistakes leaves the database of a server as it was', async (t) => {
  const panel = await start(t, true);
  const folder = await folderFor(t);
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  await download(panel, join(folder, '1.db'));
  const file = await SqliteFile.open(join(folder, '1.db'));
  await file.execute('PRAGMA foreign_keys=OFF; DELETE FROM inbounds');
  await file.close();
  const form = new FormData();
  form.append('db', new Blob([await readFile(join(folder, '1.db'))]), 'backup.db');
  const response = await fetch(`${panel.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  t.is(response.status, 422);
  t.regex(await response.text(), /refers to no row of/);
  await panel.addClient('bob', [id]);
});

run('weir restore works on a server while no panel runs, and not while one does', async (t) => {
  const first = await start(t, true);
  const id = await first.addInbound();
  await first.addClient('ann', [id]);
  const folder = await folderFor(t);
  const bytes = await download(first, join(folder, '1.db'));
  t.true(bytes.length > 0);
  await first.addClient('bob', [id]);
  const database = await databaseEnvironment(first.dataDirectory);
  const restoring = (data: string) =>
    weirCommand(data, ['restore', join(folder, '1.db')], { ...ENV, ...database });
  // From another data folder nothing asks the panel that runs, so the lock of the database must refuse it.
  const other = await folderFor(t);
  const refused = await restoring(other);
  t.is(refused.code, 1, refused.said);
  t.regex(refused.complained, /a panel uses the database/);
  const guid = (await first.get<{ panelGuid: string }>('/panel/api/server/status')).panelGuid;
  await first.stop();

  const done = await restoring(first.dataDirectory);
  t.is(done.code, 0, done.complained);
  t.regex(done.said, /restored \d+ rows/);
  t.notRegex(done.complained, /there was no database/);
  const again = await ProgramPanel.start({
    dataDirectory: first.dataDirectory,
    env: { ...ENV, ...database },
  });
  t.teardown(() => again.stop());
  const emails = (await again.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email);
  t.deepEqual(emails, ['ann']);
  t.is((await again.get<{ panelGuid: string }>('/panel/api/server/status')).panelGuid, guid);
  t.deepEqual(again.faults, []);
});
