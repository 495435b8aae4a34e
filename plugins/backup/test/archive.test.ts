// Backups that the panel makes by itself: verified, listed, downloaded, deleted, and what an audit says of it.
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { TestPanel } from '../../../test/harness/index.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import type { ListedBackup } from '../archive/record.js';

const boot = (env: Record<string, string> = {}) =>
  TestPanel.boot({ env: { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off', ...env } });
const listOf = (panel: TestPanel, place = 'local') =>
  panel.get<ListedBackup[]>(`/panel/api/x/backup/list?place=${place}`);
const run = (panel: TestPanel) => panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
const backups = (panel: TestPanel) => join(panel.dataDirectory, 'backups');

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('a backup is verified by a restore, has a manifest, and can be downloaded', async (t) => {
  await using panel = await boot();
  const id = await panel.addInbound();
  for (const name of ['ann', 'bob']) await panel.addClient(name, [id]);
  t.deepEqual(await listOf(panel), []);
  const made = await run(panel);
  const { manifest, verification } = made;
  t.like(verification, { state: 'verified', method: 'restored', problem: '' });
  t.deepEqual(manifest.counts, { clients: 2, inbounds: 1, up: 0, down: 0 });
  t.is(manifest.by, 'admin');
  t.regex(manifest.release, /^\d+\.\d+\.\d+$/);
  t.true(manifest.migrations.length > 20 && manifest.migrations.some((name) => name.startsWith('clients/')));
  const path = join(backups(panel), manifest.name);
  const bytes = await readFile(path);
  t.is(manifest.sha256, createHash('sha256').update(bytes).digest('hex'));
  t.is(manifest.bytes, bytes.length);
  for (const file of [path, `${path}.json`]) t.is((await stat(file)).mode & 0o777, 0o600, file);
  const [listed, ...others] = await listOf(panel);
  t.deepEqual(others, []);
  t.deepEqual(listed, { ...made, problem: '' });

  const response = await fetch(`${panel.url}/panel/api/x/backup/download/${manifest.name}`, {
    headers: { cookie: panel.cookie },
  });
  t.is(response.status, 200);
  t.true(Buffer.from(await response.arrayBuffer()).equals(bytes));
  t.regex(response.headers.get('content-disposition') ?? '', new RegExp(manifest.name));
  // No folder of a rehearsal and no draft is left.
  t.deepEqual(
    (await readdir(panel.dataDirectory)).filter((name) => name.startsWith('restore')),
    [],
  );
  t.deepEqual((await readdir(backups(panel))).filter((name) => /^weir_|^\.weir/.test(name)).length, 2);
  const { said } = await weirCommand(panel.dataDirectory, ['backups']);
  t.regex(said, new RegExp(`^${manifest.name}  verified  2 clients  1 inbounds`));
});

test('a file that changed fails its verification, and does not count', async (t) => {
  await using panel = await boot();
  const { manifest } = await run(panel);
  const path = join(backups(panel), manifest.name);
  const bytes = await readFile(path);
  const verify = () => panel.get<ListedBackup>(`/panel/api/x/backup/verify/${manifest.name}`, { body: {} });
  t.like((await verify()).verification, { state: 'verified', method: 'restored' });
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(5000) ^ 1, 5000);
  await writeFile(path, changed);
  t.like((await verify()).verification, {
    state: 'failed',
    problem: 'the file has changed: its SHA-256 is not that of its record',
  });
  t.is((await listOf(panel))[0]?.verification.state, 'failed');
  await appendFile(path, 'x');
  const [longer] = await listOf(panel);
  t.regex(longer?.problem ?? '', /^the file has \d+ bytes, and its record says \d+$/);
  t.regex((await verify()).verification.problem, /^the file has \d+ bytes/);
  await writeFile(path, bytes);
  t.is((await verify()).verification.state, 'verified', 'with its bytes back it is good again');
});

test('the newest verified backup is only deleted by force, and each change is in the audit', async (t) => {
  await using panel = await boot();
  const first = (await run(panel)).manifest.name;
  const second = (await run(panel)).manifest.name;
  t.not(first, second);
  const remove = (name: string, body: object = {}) =>
    panel.call(`/panel/api/x/backup/delete/${name}`, { body });
  const refused = await remove(second);
  t.is(refused.status, 409);
  t.is(refused.body.code, 'BACKUP_LAST_VERIFIED');
  t.is((await remove(first)).status, 200);
  t.is((await remove(first)).body.code, 'BACKUP_UNKNOWN');
  t.is((await remove(second, { force: true })).status, 200);
  t.deepEqual(await listOf(panel), []);
  t.deepEqual(
    (await readdir(backups(panel))).filter((name) => name.startsWith('weir_')),
    [],
  );
  const items = await panel.get<{ area: string; kind: string; name: string; who: string }[]>(
    '/panel/api/x/audit/changes?area=backup',
  );
  t.deepEqual(
    items.map(({ kind, name, who }) => `${kind} ${name} ${who}`),
    [`deleted ${second} admin`, `deleted ${first} admin`, `added ${second} admin`, `added ${first} admin`],
  );
});

test('names and places that are not in the list are refused, whatever they lead to', async (t) => {
  await using panel = await boot();
  await run(panel);
  const secret = join(panel.dataDirectory, 'weir_2026-01-01_000000.db');
  await writeFile(secret, 'secret');
  for (const name of [
    '..%2fweir_2026-01-01_000000.db',
    '..%2f..%2fetc%2fpasswd',
    'weir.sqlite',
    'before-restore-x.sqlite',
    'weir_2026-01-01_000000.db.json',
    '.weir_1.1-0.part',
    'weir_2026-01-01_000000.db%00',
  ])
    for (const [path, options] of [
      [`download/${name}`, {}],
      [`verify/${name}`, { body: {} }],
      [`delete/${name}`, { body: { force: true } }],
      [`restore/${name}`, { body: {} }],
    ] as const) {
      const { status, text } = await panel.call(`/panel/api/x/backup/${path}`, options);
      t.true(status === 400 || status === 404, `${path}: ${status} ${text}`);
    }
  t.is(await readFile(secret, 'utf8'), 'secret');
  t.is((await panel.call('/panel/api/x/backup/list?place=nowhere')).body.code, 'BACKUP_UNKNOWN_PLACE');
  t.is((await panel.call('/panel/api/x/backup/list?place=s3')).body.code, 'BACKUP_PLACE_OFF');
  t.is((await panel.call('/panel/api/x/backup/list?place=../x')).status, 400);
});

test('records that no panel wrote are not listed, and files without a record are left alone', async (t) => {
  await using panel = await boot();
  const { manifest } = await run(panel);
  const path = join(backups(panel), manifest.name);
  const record = JSON.parse(await readFile(`${path}.json`, 'utf8')) as { manifest: object };
  const other = 'weir_2020-01-01_000000.db';
  const write = async (text: string) => {
    await writeFile(join(backups(panel), other), 'x');
    await writeFile(join(backups(panel), `${other}.json`), text);
  };
  for (const text of [
    '',
    'null',
    '{}',
    '['.repeat(10_000),
    JSON.stringify(record),
    JSON.stringify({ ...record, manifest: { ...record.manifest, name: other, format: 2 } }),
    JSON.stringify({ ...record, manifest: { ...record.manifest, name: '../../x.db' } }),
    'x'.repeat(600_000),
  ]) {
    await write(text);
    t.deepEqual(
      (await listOf(panel)).map((one) => one.manifest.name),
      [manifest.name],
      text.slice(0, 60),
    );
  }
  t.true(panel.log.some((line) => line.includes('the record of a backup cannot be read')));
  t.is((await panel.call(`/panel/api/x/backup/download/${other}`)).status, 404);
});

test('a second backup is refused while one is made', async (t) => {
  await using panel = await boot();
  const [one, two] = await Promise.all([
    panel.call('/panel/api/x/backup/run', { method: 'POST' }),
    panel.call('/panel/api/x/backup/run', { method: 'POST' }),
  ]);
  t.deepEqual([one.status, two.status].sort(), [200, 409]);
  t.true([one.body.code, two.body.code].includes('BACKUP_AT_WORK'));
  t.is((await listOf(panel)).length, 1);
});

test('a folder gets a copy that was read back, and a folder that is missing is a problem', async (t) => {
  await using panel = await boot();
  const folder = await folderFor(t);
  const set = (values: object) => panel.call('/panel/api/setting/update', { body: values });
  t.is((await set({ backupFolder: join(folder, 'missing') })).status, 200);
  const failed = await run(panel);
  t.regex(
    failed.copies['folder']?.problem ?? '',
    /the folder .*missing does not exist; mount it, or create it/,
  );
  t.is((await listOf(panel)).length, 1, 'the local copy stays');
  const status = await panel.get<{ problem: string }>('/panel/api/x/backup/status');
  t.regex(status.problem, /does not exist/);

  t.is((await set({ backupFolder: folder })).status, 200);
  const made = await run(panel);
  t.is(made.copies['folder']?.problem, '');
  const [there] = await listOf(panel, 'folder');
  t.is(there?.manifest.sha256, made.manifest.sha256);
  const guid = made.manifest.guid;
  t.deepEqual((await readdir(join(folder, guid))).sort(), [made.manifest.name, `${made.manifest.name}.json`]);
  t.is((await panel.get<{ problem: string }>('/panel/api/x/backup/status')).problem, '');
  // From there it is verified, downloaded and deleted as well.
  const { name } = made.manifest;
  const verified = await panel.get<ListedBackup>(`/panel/api/x/backup/verify/${name}`, {
    body: { place: 'folder' },
  });
  t.like(verified.verification, { state: 'verified', method: 'restored' });
  const response = await fetch(`${panel.url}/panel/api/x/backup/download/${name}?place=folder`, {
    headers: { cookie: panel.cookie },
  });
  t.is((await response.arrayBuffer()).byteLength, made.manifest.bytes);
  t.deepEqual(
    (await readdir(join(panel.dataDirectory, 'snapshots'))).filter((file) => file.endsWith('.db')),
    [],
  );
  await writeFile(join(folder, guid, name), 'other');
  t.regex(
    (await panel.call(`/panel/api/x/backup/verify/${name}`, { body: { place: 'folder' } })).body.msg ?? '',
    /returns another file/,
  );
  t.is(
    (await panel.call(`/panel/api/x/backup/delete/${name}`, { body: { place: 'folder', force: true } }))
      .status,
    200,
  );
  t.deepEqual(await readdir(join(folder, guid)), []);
});

test('settings that are not valid are refused by name', async (t) => {
  await using panel = await boot();
  for (const [values, field] of [
    [{ backupSchedule: '25:00' }, 'backupSchedule'],
    [{ backupSchedule: '4:30' }, 'backupSchedule'],
    [{ backupSchedule: '04:30 someday' }, 'backupSchedule'],
    [{ backupSchedule: '0h' }, 'backupSchedule'],
    [{ backupSchedule: '32d' }, 'backupSchedule'],
    [{ backupSchedule: '* * * * *' }, 'backupSchedule'],
    [{ backupKeepLast: 0 }, 'backupKeepLast'],
    [{ backupKeepDays: -1 }, 'backupKeepDays'],
    [{ backupKeepMonths: 1e9 }, 'backupKeepMonths'],
    [{ backupFolder: 'backups' }, 'backupFolder'],
    [{ backupFolder: '/mnt/\u0007' }, 'backupFolder'],
    [{ backupRecipients: ['age1xyz'] }, 'backupRecipients'],
    [{ backupRecipients: ['ssh-ed25519 AAAA'] }, 'backupRecipients'],
    [{ backupRecipients: ['AGE-SECRET-KEY-1QQQ'] }, 'backupRecipients'],
    [{ backupRecipients: 'age1' }, 'backupRecipients'],
    [{ backupPassphrase: 'short' }, 'backupPassphrase'],
    [{ backupPassphrase: ' with a space in front' }, 'backupPassphrase'],
    [{ backupS3Bucket: '../x' }, 'backupS3Bucket'],
    [{ backupS3Bucket: 'UPPER' }, 'backupS3Bucket'],
    [{ backupS3Endpoint: 'ftp://x' }, 'backupS3Endpoint'],
    [{ backupS3Endpoint: 'https://user:pass@x/' }, 'backupS3Endpoint'],
    [{ backupS3Endpoint: 'https://x/path' }, 'backupS3Endpoint'],
    [{ backupS3Prefix: '../x/' }, 'backupS3Prefix'],
    [{ backupS3Prefix: '/x/' }, 'backupS3Prefix'],
    [{ backupS3Prefix: 'x' }, 'backupS3Prefix'],
    [{ backupS3Region: 'EU west' }, 'backupS3Region'],
    [{ backupS3SecretKey: 'with space' }, 'backupS3SecretKey'],
  ] as const) {
    const { status, body, text } = await panel.call('/panel/api/setting/update', { body: values });
    t.is(status, 400, `${JSON.stringify(values)}: ${text}`);
    t.true(text.includes(field), `${JSON.stringify(values)}: ${text}`);
    t.false(body.success);
  }
  for (const backupSchedule of ['', '00:00', '23:59', '04:30 sunday', '1h', '31d', '744h'])
    t.is(
      (await panel.call('/panel/api/setting/update', { body: { backupSchedule } })).status,
      200,
      backupSchedule,
    );
});
