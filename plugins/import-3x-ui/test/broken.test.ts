// Files that lie, and other files: refused with a sentence, or taken with a report. The panel stays as it was.
import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import test from 'ava';
import sqlite3 from 'sqlite3';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { copyOf, send, tableOf, unaccounted } from './database.js';

const API = '/panel/api';
const boot = (): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock(1_795_304_420_000) });

test('refuses what is no complete database of 3x-ui, and changes nothing', async (t) => {
  await using panel = await boot();
  const refused = async (path: string, reason: RegExp): Promise<void> => {
    const { status, body } = await send(panel, path);
    t.is(status, 422, body.msg);
    t.is(body.code, 'IMPORT_3X_UI_UNREADABLE');
    t.regex(body.msg, reason);
  };
  const path = await copyOf(t);
  const half = join(dirname(path), 'half.db');
  await copyFile(path, half);
  await truncate(half, 150_000);
  await refused(half, /incomplete: it has 150000 of \d+ bytes/);
  const torn = join(dirname(path), 'torn.db');
  const bytes = await readFile(path);
  bytes.fill(0x5a, 4096 * 5, 4096 * 60);
  await writeFile(torn, bytes);
  await refused(torn, /damaged|malformed/);
  const text = join(dirname(path), 'text.db');
  await writeFile(text, 'CREATE TABLE users (id);');
  await refused(text, /SQL text/);
  await writeFile(text, '');
  await refused(text, /empty/);
  await refused(await copyOf(t, 'DROP TABLE inbounds'), /no table inbounds/);
  await refused(await copyOf(t, 'ALTER TABLE users DROP COLUMN password'), /users has no column password/);
  await refused(
    await copyOf(t, 'ALTER TABLE hosts RENAME TO h; CREATE VIEW hosts AS SELECT * FROM h'),
    /the view "hosts"/,
  );
  await refused(
    await copyOf(t, 'CREATE TRIGGER t AFTER INSERT ON users BEGIN DELETE FROM users; END'),
    /the trigger "t"/,
  );
  await refused(
    await copyOf(t, 'ALTER TABLE users ADD COLUMN slow AS (length(zeroblob(100000000)))'),
    /the generated column "users.slow"/,
  );
  await refused(await copyOf(t, 'CREATE VIRTUAL TABLE v USING fts5(a)'), /the virtual table "v"/);
  t.deepEqual(await panel.get(`${API}/inbounds/list`), []);
  t.deepEqual(await readdir(join(panel.dataDirectory, 'imports-3x-ui')), []);
});

test('takes what it can of rows that lie, and names the others', async (t) => {
  await using panel = await boot();
  const bomb = `{"a":${'['.repeat(900)}${']'.repeat(900)}}`;
  const path = await copyOf(
    t,
    `UPDATE client_traffics SET up = -5, down = 9e300 WHERE email = 'user0@old1.example';
     UPDATE client_traffics SET total = 'much' WHERE email = 'user1@old1.example';
     UPDATE clients SET comment = 'a' || char(0) || 'b' WHERE email = 'user2@old1.example';
     UPDATE clients SET comment = printf('%.*c', 3000000, 'x') WHERE email = 'user3@old1.example';
     UPDATE clients SET email = 'a/b c' WHERE email = 'user4@old1.example';
     UPDATE clients SET total_gb = -1 WHERE email = 'user5@old1.example';
     UPDATE client_traffics SET total = -1 WHERE email = 'user5@old1.example';
     UPDATE clients SET tg_id = x'00ff' WHERE email = 'user6@old1.example';
     UPDATE clients SET uuid = (SELECT uuid FROM clients WHERE email = 'user8@old1.example') WHERE email = 'user7@old1.example';
     UPDATE inbounds SET settings = json_set(settings, '$.clients', json('[]')) WHERE id = 1;
     UPDATE inbounds SET stream_settings = '${bomb}' WHERE id = 3;
     UPDATE inbounds SET settings = '{"clients":' WHERE id = 5;
     UPDATE inbounds SET protocol = 'gopher' WHERE id = 7;
     UPDATE hosts SET tags = '${bomb}', remark = char(27) || '[2J';
     INSERT INTO settings (key, value) VALUES ('subTitle', '${bomb}'), ('xrayTemplateConfig', '${bomb}');
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
       INSERT INTO inbound_client_ips (client_email, ips) SELECT 'nobody' || i, '[]' FROM n;`,
  );
  const { status, body } = await send(panel, path);
  t.is(status, 200, body.msg);
  t.deepEqual(unaccounted(body.obj), []);
  for (const { name, there, here } of body.obj.sums) t.is(here, there, name);
  const clients = tableOf(body.obj, 'clients');
  t.true(clients.left.some(({ names }) => names.includes('a/b c')));
  const why = (email: string): string =>
    clients.left.find(({ names }) => names.includes(email))?.why ?? 'taken';
  t.regex(why('user2@old1.example'), /comment/);
  t.regex(why('user3@old1.example'), /comment/);
  t.regex(why('user5@old1.example'), /totalGB/);
  t.is(why('user0@old1.example'), 'taken');
  t.like(await panel.get(`${API}/clients/get/user0@old1.example`), { traffic: { up: 0 } });
  t.is(
    tableOf(body.obj, 'inbounds').left.reduce((sum, { count }) => sum + count, 0),
    3,
  );
  t.notRegex(JSON.stringify(body.obj), /\\u001b|\\u0000/);
  t.is((await panel.call('/healthz', { anonymous: true })).status, 200);
});

test('the command reads a path: a link, what is no file, and a log beside the file', async (t) => {
  await using panel = await boot();
  const path = await copyOf(t);
  const folder = dirname(path);
  const run = (file: string, ...more: string[]) =>
    weirCommand(panel.dataDirectory, ['import', '3x-ui', file, ...more]);
  const missing = await run(join(folder, 'none.db'));
  t.is(missing.code, 1);
  t.regex(missing.complained, /none\.db cannot be found or read/);
  await mkdir(join(folder, 'a-folder'));
  t.regex((await run(join(folder, 'a-folder'))).complained, /not a regular file|cannot be opened/);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  t.regex((await run(join(folder, 'pipe'))).complained, /not a regular file/);
  await symlink(path, join(folder, 'link.db'));
  t.regex((await run(join(folder, 'link.db'), '--dry-run')).said, /clients: 40 found, 40 would be taken/);
  t.is(
    (await run(relative(process.cwd(), path), '--dry-run')).code,
    0,
    'a path from the folder of the caller',
  );
  // A change that is in the write-ahead log alone, as of a 3x-ui that runs.
  const database = new sqlite3.Database(path);
  t.teardown(() => database.close());
  await new Promise<void>((resolve, reject) =>
    database.exec(
      `PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; UPDATE clients SET comment = 'from the log' WHERE email = 'user1@old1.example'`,
      (error) => (error ? reject(error) : resolve()),
    ),
  );
  const done = await run(path);
  t.is(done.code, 0, done.complained);
  t.regex(done.said, /^bytes up: 267386964 in the file, 267386964 here$/m);
  t.like(await panel.get(`${API}/clients/get/user1@old1.example`), { comment: 'from the log' });
});

test('a file that changes while it is read is refused', async (t) => {
  await using panel = await boot();
  const path = await copyOf(t);
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await appendFile(path, 'x');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  })();
  const { code, complained } = await weirCommand(panel.dataDirectory, ['import', '3x-ui', path]);
  isOver = true;
  await writing;
  t.is(code, 1);
  t.regex(complained, /it changes while it is read; stop 3x-ui/);
});
