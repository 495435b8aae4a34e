// Backups that the panel makes by itself: verified, listed, downloaded, deleted, and what an audit says of it.
import { createHash } from 'node:crypto';
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { TestPanel } from '../../../test/harness/index.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import type { ListedBackup } from '../archive/record.js';
import { folderFor } from '../../../test/harness/folder-for.js';

/** Each backup costs seconds, as it is restored: the tests follow each other on one panel. */
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ env: { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' } });
});
test.after.always(() => panel[Symbol.asyncDispose]());
const set = (values: object) => panel.call('/panel/api/setting/update', { body: values });
const listOf = (place = 'local') => panel.get<ListedBackup[]>(`/panel/api/x/backup/list?place=${place}`);
const run = () => panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
const backups = () => join(panel.dataDirectory, 'backups');

test.serial('a backup is verified by a restore, has a manifest, and can be downloaded', async (t) => {
  const id = await panel.addInbound();
  for (const name of ['ann', 'bob']) await panel.addClient(name, [id]);
  t.deepEqual(await listOf(), []);
  const missing = join(await folderFor(t), 'missing');
  t.is((await set({ backupFolder: missing })).status, 200);
  const made = await run();
  const { manifest, verification } = made;
  t.like(verification, { state: 'verified', method: 'restored', problem: '' });
  t.deepEqual(manifest.counts, { clients: 2, inbounds: 1, up: 0, down: 0 });
  t.is(manifest.by, 'admin');
  t.regex(manifest.release, /^\d+\.\d+\.\d+$/);
  t.true(manifest.migrations.length > 20 && manifest.migrations.some((name) => name.startsWith('clients/')));
  const path = join(backups(), manifest.name);
  const bytes = await readFile(path);
  t.is(manifest.sha256, createHash('sha256').update(bytes).digest('hex'));
  t.is(manifest.bytes, bytes.length);
  for (const file of [path, `${path}.json`]) t.is((await stat(file)).mode & 0o777, 0o600, file);
  t.deepEqual(await listOf(), [made]);
  // The folder to which it is copied is missing: that is a problem, and the local file stays.
  t.regex(made.copies['folder']?.problem ?? '', /missing does not exist; mount it, or create it/);
  t.regex((await panel.get<{ problem: string }>('/panel/api/x/backup/status')).problem, /does not exist/);

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
  t.is((await readdir(backups())).filter((name) => /^\.?weir_/.test(name)).length, 2);
  const { said } = await weirCommand(panel.dataDirectory, ['backups']);
  t.regex(said, new RegExp(`^${manifest.name}  verified  2 clients  1 inbounds`));
});

test.serial('a file that changed fails its verification, and does not count', async (t) => {
  const [{ manifest }] = (await listOf()) as [ListedBackup];
  const path = join(backups(), manifest.name);
  const bytes = await readFile(path);
  const verify = () => panel.get<ListedBackup>(`/panel/api/x/backup/verify/${manifest.name}`, { body: {} });
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(5000) ^ 1, 5000);
  await writeFile(path, changed);
  t.like((await verify()).verification, {
    state: 'failed',
    problem: 'the file has changed: its SHA-256 is not that of its record',
  });
  t.is((await listOf())[0]?.verification.state, 'failed');
  await appendFile(path, 'x');
  t.regex((await listOf())[0]?.problem ?? '', /^the file has \d+ bytes, and its record says \d+$/);
  t.regex((await verify()).verification.problem, /^the file has \d+ bytes/);
  const refused = await panel.call(`/panel/api/x/backup/download/${manifest.name}`);
  t.is(refused.body.code, 'BACKUP_CHANGED');
  t.regex(refused.text, /the file has \d+ bytes, and its record says/);
  await writeFile(path, bytes);
  t.like((await verify()).verification, { state: 'verified', method: 'restored' });
});

test.serial('a second backup is refused while one is made, and a folder gets a copy', async (t) => {
  const folder = await folderFor(t);
  t.is((await set({ backupFolder: folder })).status, 200);
  const answers = await Promise.all(
    [1, 2].map(() => panel.call<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' })),
  );
  const made = answers.find(({ status }) => status === 200)?.body.obj as ListedBackup;
  t.is(answers.find(({ status }) => status === 409)?.body.code, 'BACKUP_AT_WORK');
  t.is((await listOf()).length, 2);
  const { name, guid, sha256, bytes } = made.manifest;
  t.like(made.copies['folder'], { problem: '', place: folder });
  t.is((await listOf('folder'))[0]?.manifest.sha256, sha256);
  t.deepEqual((await readdir(join(folder, guid))).sort(), [name, `${name}.json`]);
  t.is((await panel.get<{ problem: string }>('/panel/api/x/backup/status')).problem, '');
  // From there it is verified, downloaded and deleted as well.
  const verified = await panel.get<ListedBackup>(`/panel/api/x/backup/verify/${name}`, {
    body: { place: 'folder' },
  });
  t.like(verified.verification, { state: 'verified', method: 'restored' });
  const response = await fetch(`${panel.url}/panel/api/x/backup/download/${name}?place=folder`, {
    headers: { cookie: panel.cookie },
  });
  t.is((await response.arrayBuffer()).byteLength, bytes);
  t.deepEqual(await readdir(join(panel.dataDirectory, 'snapshots')), []);
  await writeFile(join(folder, guid, name), 'other');
  const other = await panel.call(`/panel/api/x/backup/verify/${name}`, { body: { place: 'folder' } });
  t.is(other.status, 502);
  t.regex(other.body.msg ?? '', /returns another file/);
  const removed = await panel.call(`/panel/api/x/backup/delete/${name}`, {
    body: { place: 'folder', force: true },
  });
  t.is(removed.status, 200);
  t.deepEqual(await readdir(join(folder, guid)), []);
  await set({ backupFolder: '' });
});

test.serial('names and places that are not in the list are refused, whatever they lead to', async (t) => {
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

test.serial(
  'records that no panel wrote are not listed, and files without a record are left alone',
  async (t) => {
    const all = await listOf();
    const [{ manifest }] = all as [ListedBackup];
    const path = join(backups(), manifest.name);
    const record = JSON.parse(await readFile(`${path}.json`, 'utf8')) as { manifest: object };
    const other = 'weir_2020-01-01_000000.db';
    const write = async (text: string) => {
      await writeFile(join(backups(), other), 'x');
      await writeFile(join(backups(), `${other}.json`), text);
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
      t.deepEqual(await listOf(), all, text.slice(0, 60));
    }
    t.true(panel.log.some((line) => line.includes('the record of a backup cannot be read')));
    t.is((await panel.call(`/panel/api/x/backup/download/${other}`)).status, 404);
    for (const name of [other, `${other}.json`]) await rm(join(backups(), name));
  },
);

test.serial('settings that are not valid are refused by name', async (t) => {
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

test.serial(
  'the newest verified backup is only deleted by force, and each change is in the audit',
  async (t) => {
    const [second = '', first = ''] = (await listOf()).map(({ manifest }) => manifest.name);
    const remove = (name: string, body: object = {}) =>
      panel.call(`/panel/api/x/backup/delete/${name}`, { body });
    const refused = await remove(second);
    t.is(refused.status, 409);
    t.is(refused.body.code, 'BACKUP_LAST_VERIFIED');
    t.is((await remove(first)).status, 200);
    t.is((await remove(first)).body.code, 'BACKUP_UNKNOWN');
    t.is((await remove(second, { force: true })).status, 200);
    t.deepEqual(await listOf(), []);
    t.deepEqual(
      (await readdir(backups())).filter((name) => name.startsWith('weir_')),
      [],
    );
    const items = await panel.get<{ kind: string; name: string; who: string; subject: string }[]>(
      '/panel/api/x/audit/changes?area=backup',
    );
    t.deepEqual(
      items.map(({ kind, name, who, subject }) => `${kind} ${name === first ? 1 : 2} ${who} ${subject}`),
      [
        'deleted 2 admin local',
        'deleted 1 admin local',
        'deleted 2 admin folder',
        'updated 2 admin folder',
        'added 2 admin local',
        'updated 1 admin local',
        'updated 1 admin local',
        'updated 1 admin local',
        'added 1 admin local',
      ],
    );
  },
);

test.serial('weir backups makes and lists them', async (t) => {
  const weir = (...argv: string[]) => weirCommand(panel.dataDirectory, ['backups', ...argv]);
  t.regex((await weir()).said, /there is no backup yet/);
  const ran = await weir('run');
  t.is(ran.code, 0, ran.complained);
  t.regex(ran.said, /^weir_\S+\.db {2}verified {2}2 clients/);
  t.is((await weir()).said, ran.said);
  const nowhere = await weir('--place', 'nowhere');
  t.is(nowhere.code, 1);
  t.regex(nowhere.complained, /there is no such place/);
  const changes = await panel.get<{ who: string; whoKind: string }[]>(
    '/panel/api/x/audit/changes?area=backup',
  );
  t.is(changes[0]?.whoKind, 'command');
});
