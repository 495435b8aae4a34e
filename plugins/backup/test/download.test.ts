// A copy of the database as a download and as a file, while the panel is edited.
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import test from 'ava';
import sqlite3 from 'sqlite3';
import { TestPanel } from '../../../test/harness/index.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { downloadNameFor } from '../file-name.js';

const boot = () => TestPanel.boot({ env: { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' } });

async function rowsOf<R>(file: string, sql: string): Promise<R[]> {
  const database = new sqlite3.Database(file, sqlite3.OPEN_READONLY);
  try {
    return await new Promise((resolve, reject) =>
      database.all(sql, (error: Error | null, rows: R[]) => (error ? reject(error) : resolve(rows))),
    );
  } finally {
    await new Promise((resolve) => database.close(resolve));
  }
}

async function fetchFile(panel: TestPanel, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${panel.url}${path}`, { headers: { cookie: panel.cookie, ...headers } });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('getDb and getMigration send a SQLite file with every committed row', async (t) => {
  await using panel = await boot();
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  for (const name of ['getDb', 'getMigration']) {
    const { response, bytes } = await fetchFile(panel, `/panel/api/server/${name}`, {
      // As HTTP libraries of JavaScript send it by default.
      accept: 'application/json, text/plain, */*',
    });
    t.is(response.status, 200, bytes.toString('latin1', 0, 300));
    t.is(response.headers.get('content-type'), 'application/octet-stream');
    t.is(response.headers.get('cache-control'), 'no-store');
    t.is(Number(response.headers.get('content-length')), bytes.length);
    t.regex(
      response.headers.get('content-disposition') ?? '',
      /^attachment; filename="?127\.0\.0\.1_\d{4}-\d\d-\d\d_\d{6}\.db"?$/,
    );
    const file = join(folder, name);
    await writeFile(file, bytes);
    t.deepEqual(await rowsOf(file, 'SELECT email FROM clients'), [{ email: 'ann' }]);
    t.deepEqual(await rowsOf(file, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  }
  t.deepEqual(await readdir(join(panel.dataDirectory, 'snapshots')), [], 'no copy stays on the disk');
});

test('a caller that accepts JSON alone gets an envelope with the checksum', async (t) => {
  await using panel = await boot();
  const answer = await panel.call<{ fileName: string; size: number; sha256: string; data: string }>(
    '/panel/api/server/getDb',
    { headers: { accept: 'application/json' } },
  );
  t.regex(answer.headers.get('content-type') ?? '', /^application\/json/);
  const { fileName, size, sha256, data } = answer.body.obj;
  const bytes = Buffer.from(data, 'base64');
  t.is(bytes.length, size);
  t.is(createHash('sha256').update(bytes).digest('hex'), sha256);
  t.regex(fileName, /\.db$/);
  t.true(bytes.toString('latin1').startsWith('SQLite format 3\0'));
});

test('a third copy is refused while two readers take their time, and a reader who leaves frees its place', async (t) => {
  await using panel = await boot();
  // Larger than what sockets buffer.
  const id = await panel.addInbound();
  for (let n = 0; n < 20; n++)
    await panel.get('/panel/api/clients/bulkCreate', {
      body: Array.from({ length: 1000 }, (_, i) => ({
        client: { email: `client-${n}-${i}`, comment: 'x'.repeat(200) },
        inboundIds: [id],
      })),
    });
  const slow = [new AbortController(), new AbortController()];
  for (const { signal } of slow)
    t.is(
      (await fetch(`${panel.url}/panel/api/server/getDb`, { headers: { cookie: panel.cookie }, signal }))
        .status,
      200,
    );
  const refused = await panel.call('/panel/api/server/getDb');
  t.is(refused.status, 409);
  t.is(refused.body.code, 'BACKUP_BUSY');
  for (const each of slow) each.abort();
  let status = 0;
  for (let n = 0; n < 50 && status !== 200; n++)
    ({ status } = await fetchFile(panel, '/panel/api/server/getDb').then(({ response }) => response));
  t.is(status, 200);
});

test('weir backup writes a private file, and leaves nothing where it fails', async (t) => {
  await using panel = await boot();
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  // What killed backups have left: one of today may still be written by another panel.
  const old = new Date(Date.now() - 86_400_000);
  const [left, recent] = ['.weir_2026-01-01_000000.1-0.part', '.weir_2026-01-02_000000.1-0.part'];
  for (const name of [left, recent]) await writeFile(join(folder, name), 'x');
  await utimes(join(folder, left), old, old);
  const done = await weirCommand(panel.dataDirectory, ['backup', '--folder', folder]);
  t.is(done.code, 0, done.complained);
  const path = done.said.trim();
  t.deepEqual((await readdir(folder)).sort(), [recent, path.slice(folder.length + 1)]);
  t.is((await stat(path)).mode & 0o777, 0o600);
  t.true((await rowsOf(path, 'SELECT name FROM kernel_migrations')).length > 20);
  const again = await weirCommand(panel.dataDirectory, ['backup', '--folder', folder]);
  t.not(again.said.trim(), path, 'a second one of the same second has a name of its own');

  const here = await weirCommand(panel.dataDirectory, ['backup', '--folder', relative('.', folder)]);
  t.is(dirname(here.said.trim()), folder, 'a relative path is one of the caller');
  await writeFile(join(folder, 'file'), '');
  const nowhere = await weirCommand(panel.dataDirectory, ['backup', '--folder', join(folder, 'file')]);
  t.is(nowhere.code, 1);
  t.regex(nowhere.complained, /file/);
  if (process.getuid?.() !== 0) {
    await chmod(folder, 0o500);
    t.is((await weirCommand(panel.dataDirectory, ['backup', '--folder', folder])).code, 1);
    await chmod(folder, 0o700);
  }
});

test('names of downloads are safe for every host', (t) => {
  const at = new Date(2026, 10, 3, 4, 5, 6);
  t.is(downloadNameFor('panel.example.com', at), 'panel.example.com_2026-11-03_040506.db');
  t.is(downloadNameFor('[2001:db8::1]', at), '2001-db8--1_2026-11-03_040506.db');
  t.is(downloadNameFor('', at), 'weir_2026-11-03_040506.db');
  t.is(downloadNameFor('../../x', at), 'x_2026-11-03_040506.db');
});
