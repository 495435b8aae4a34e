// A restore through the API: what comes back, what stays, and what is refused before anything changes.
import { onlyOn } from '../../../test/harness/left-out.js';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import sqlite3 from 'sqlite3';
import { onSqlite } from '../../../test/harness/database.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import type { LastRestore } from '../contract.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const run = onlyOn(onSqlite, 'SQLite', test.serial);
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };

async function start(t: ExecutionContext, dataDirectory: string): Promise<ProgramPanel> {
  const panel = await ProgramPanel.start({ dataDirectory, env: ENV });
  t.teardown(() => panel.stop());
  return panel;
}

async function download(panel: ProgramPanel, path: string): Promise<string> {
  const response = await fetch(`${panel.url}/panel/api/server/getDb`, { headers: { cookie: panel.cookie } });
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  return path;
}

async function importDb(panel: ProgramPanel, bytes: Uint8Array, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('db', new Blob([bytes as never]), 'backup.db');
  const response = await fetch(`${panel.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  return {
    status: response.status,
    body: (await response.json()) as { success: boolean; msg: string; obj: string; code?: string },
  };
}

const emails = async (panel: ProgramPanel): Promise<string[]> =>
  (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();

async function edit(path: string, sql: string): Promise<void> {
  const database = new sqlite3.Database(path);
  await new Promise<void>((resolve, reject) =>
    database.exec(sql, (error) => (error ? reject(error) : resolve())),
  );
  await new Promise((resolve) => database.close(resolve));
}

const restarted = (panel: ProgramPanel) =>
  panel.until(
    () => panel.log.some(({ msg }) => msg === 'the panel started again' || /^the restart failed/.test(msg)),
    'the panel started again',
  );

run(
  'a restore brings back the rows of the backup, keeps what belongs to the host, and ends sessions',
  async (t) => {
    const folder = await folderFor(t);
    const panel = await start(t, await folderFor(t));
    const id = await panel.addInbound();
    await panel.addClient('ann', [id]);
    await panel.get('/panel/api/setting/update', {
      body: { subURI: 'https://old.example/sub/', pageSize: 33 },
    });
    const backup = await download(panel, join(folder, 'backup.db'));
    await panel.addClient('bob', [id]);
    await panel.get('/panel/api/setting/update', {
      body: { subURI: 'https://new.example/sub/', pageSize: 44 },
    });
    const { guid } = await panel
      .get<{ guid: string }>('/panel/api/server/status')
      .then((s) => ({ guid: (s as unknown as { panelGuid: string }).panelGuid }));

    const { status, body } = await importDb(panel, await readFile(backup));
    t.is(status, 200, body.msg);
    t.regex(body.obj, /restored.*\d+ rows in \d+ tables$/);
    await restarted(panel);
    t.is((await panel.call('/panel/api/clients/list')).status, 401, 'the session has ended');
    await panel.login();
    t.deepEqual(await emails(panel), ['ann']);
    const settings = await panel.get<Record<string, unknown>>('/panel/api/setting/all', { method: 'POST' });
    t.is(settings['subURI'], 'https://new.example/sub/', 'host-bound');
    t.is(settings['pageSize'], 33);
    t.is((await panel.get<{ panelGuid: string }>('/panel/api/server/status')).panelGuid, guid);
    const last = await panel.get<LastRestore>('/panel/api/x/backup/restore');
    t.is(last.state, 'done');
    // The previous database is there, with what was in it.
    const back = await importDb(panel, await readFile(last.previous), { keepHostSettings: 'false' });
    t.is(back.status, 200, back.body.msg);
    panel.log.length = 0;
    await restarted(panel);
    await panel.login();
    t.deepEqual(await emails(panel), ['ann', 'bob']);
    // Ids go on where they were: one that was given is not given again.
    await panel.addClient('cid', [id]);
    t.deepEqual(await emails(panel), ['ann', 'bob', 'cid']);
  },
);

run('a file that no panel wrote is refused by name, and changes nothing', async (t) => {
  const folder = await folderFor(t);
  const data = await folderFor(t);
  const panel = await start(t, data);
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const backup = await download(panel, join(folder, 'backup.db'));
  const whole = await readFile(backup);
  const edited = async (sql: string): Promise<Buffer> => {
    const path = join(folder, 'edited.db');
    await copyFile(backup, path);
    await edit(path, sql);
    return readFile(path);
  };
  const damaged = Buffer.from(whole);
  damaged.fill(0x5a, 8192, 40_000);
  const cases: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['nothing', Buffer.alloc(0), /it is empty/],
    ['text', Buffer.from('hello'), /not a SQLite file/],
    ['SQL', Buffer.from('\ufeffPRAGMA foreign_keys=OFF;'), /it is SQL text/],
    ['PostgreSQL', Buffer.from('PGDMP...'), /PostgreSQL/],
    ['encrypted', Buffer.from('age-encryption.org/v1\n'), /encrypted/],
    ['half', whole.subarray(0, whole.length / 2), /incomplete/],
    ['a header', whole.subarray(0, 50), /incomplete/],
    ['damaged pages', damaged, /damaged|malformed/],
    [
      'another program',
      await edited('ALTER TABLE kernel_migrations RENAME TO x'),
      /kernel_migrations is missing/,
    ],
    [
      'a newer release',
      await edited("INSERT INTO kernel_migrations VALUES ('clients', '9999-future', 1)"),
      /clients\/9999-future/,
    ],
    [
      'another plugin',
      await edited("INSERT INTO kernel_migrations VALUES ('acme', '0001-x', 1)"),
      /acme\/0001-x/,
    ],
    [
      'a trigger',
      await edited('CREATE TRIGGER boom AFTER INSERT ON clients BEGIN DELETE FROM clients; END'),
      /the trigger "boom"/,
    ],
    ['a view', await edited('CREATE VIEW peek AS SELECT 1'), /the view "peek"/],
    [
      'a view for a table',
      await edited('ALTER TABLE client_groups RENAME TO g; CREATE VIEW client_groups AS SELECT * FROM g'),
      /the view "client_groups"/,
    ],
    ['a virtual table', await edited('CREATE VIRTUAL TABLE v USING fts5(a)'), /the virtual table "v"/],
    ['a missing table', await edited('DROP TABLE client_seen'), /its table client_seen is missing/],
    [
      'a computed column',
      await edited(
        'ALTER TABLE settings RENAME COLUMN value TO v; ALTER TABLE settings ADD COLUMN value TEXT GENERATED ALWAYS AS (v)',
      ),
      /settings\.value is missing, or is computed/,
    ],
    [
      'text for a number',
      await edited("UPDATE clients SET expiry_time = 'soon'"),
      /clients\.expiry_time holds a value/,
    ],
    [
      'a number too large',
      await edited('UPDATE clients SET expiry_time = 9007199254740993'),
      /clients\.expiry_time holds the number/,
    ],
    [
      'a huge row',
      await edited("UPDATE clients SET comment = printf('%.*c', 20000000, 'x')"),
      /a row of clients has \d+ bytes/,
    ],
    ['an orphan', await edited('PRAGMA foreign_keys=OFF; DELETE FROM clients'), /refers to no row of/],
    [
      'what the panel cannot read',
      await edited("UPDATE inbounds SET settings = 'not json'"),
      /would not start|mistakes|./,
    ],
  ];
  const before = (await panel.call('/panel/api/clients/list')).text;
  for (const [name, bytes, reason] of cases) {
    const { status, body } = await importDb(panel, bytes);
    t.is(status, 422, `${name}: ${JSON.stringify(body)}`);
    t.is(body.code, 'BACKUP_NOT_RESTORED', name);
    t.regex(body.msg, reason, name);
  }
  const both = await Promise.all([importDb(panel, damaged), importDb(panel, damaged)]);
  t.deepEqual(both.map(({ body }) => body.code).sort(), ['BACKUP_NOT_RESTORED', 'BACKUP_RESTORING']);
  const missing = await panel.call('/panel/api/server/importDB', { body: {} });
  t.true(missing.status >= 400 && missing.status < 500);
  t.is((await panel.call('/panel/api/clients/list')).text, before);
  t.deepEqual(
    (await readdir(data)).filter((name) => name.startsWith('restore')),
    [],
    'nothing is left behind',
  );
  t.is(panel.said('stopping'), undefined, 'the panel never stopped');
  // Unknown tables and columns are left out, and named.
  const more = await importDb(
    panel,
    await edited('CREATE TABLE notes (a); ALTER TABLE clients ADD COLUMN shoe INTEGER'),
  );
  t.is(more.status, 200, more.body.msg);
  t.regex(more.body.obj, /not restored.*table notes, column clients\.shoe/);
  await restarted(panel);
});
