// Verifications that say nothing about the backup, and backups that are not the ones that were made.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { TestPanel } from '../../../test/harness/index.js';
import type { ListedBackup } from '../archive/record.js';
import { backupWorld } from './backup-world.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
const WHO = { kind: 'session', name: 'admin' } as never;
const NO_KEY = { identities: [], passphrase: '' };

test('a wrong key, or a process that was killed, does not make a backup a failed one', async (t) => {
  const world = await backupWorld(t);
  const { manifest } = await world.scheduler.run('admin', WHO);
  const stateOf = async () => (await world.localFolder.find(manifest.name))?.verification.state;
  const path = join(world.folder, 'backups', `${manifest.name}.json`);
  const before = await readFile(path, 'utf8');
  for (const [problem, code] of [
    [
      'the file cannot be restored: neither the identity nor the passphrase opens it; it was encrypted for another',
      'BACKUP_WRONG_KEY',
    ],
    ['the process of the rehearsal did not finish: SIGKILL ', 'BACKUP_NOT_VERIFIED'],
    [
      'the backup is of another release or has other plugins: these migrations are unknown here: a/1; install that release',
      'BACKUP_NOT_VERIFIED',
    ],
  ] as const) {
    world.problem = problem;
    const error = await t.throwsAsync(world.archive.verify(manifest.name, 'local', NO_KEY, WHO));
    t.is((error as { code?: string }).code, code);
    t.is(await readFile(path, 'utf8'), before);
  }
  world.problem = 'the restored database has mistakes';
  await world.archive.verify(manifest.name, 'local', NO_KEY, WHO);
  t.is(await stateOf(), 'failed');
});

test.serial('a backup whose passphrase was changed since stays verified', async (t) => {
  await using panel = await TestPanel.boot({ env: ENV });
  const set = (body: object) => panel.call('/panel/api/setting/update', { body });
  for (const value of ['two\nlines of text', 'a bell \u0007 in the middle'])
    t.regex((await set({ backupPassphrase: value })).text, /backupPassphrase.*one line/);
  await set({ backupPassphrase: 'the first passphrase' });
  const { manifest } = await panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
  await set({ backupPassphrase: 'the second passphrase' });
  const verify = (body: object) =>
    panel.call<ListedBackup>(`/panel/api/x/backup/verify/${manifest.name}`, { body });
  for (const body of [{ passphrase: 'a third passphrase' }]) {
    const answer = await verify(body);
    t.is(answer.status, 422, answer.text);
    t.is(answer.body.code, 'BACKUP_WRONG_KEY');
    t.false(answer.text.includes('third'));
  }
  const [listed] = await panel.get<ListedBackup[]>('/panel/api/x/backup/list');
  t.is(listed?.verification.state, 'verified');
  t.like((await verify({ passphrase: 'the first passphrase' })).body.obj.verification, {
    state: 'verified',
    method: 'restored',
  });
});

test.serial('a file that changed, but is still a sound database, is not restored', async (t) => {
  await using panel = await TestPanel.boot({ env: ENV });
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const folder = await folderFor(t);
  await panel.call('/panel/api/setting/update', { body: { backupFolder: folder } });
  const { manifest } = await panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
  const { name, guid } = manifest;
  const path = join(panel.dataDirectory, 'backups', name);
  const bytes = await readFile(path);
  const changed = Buffer.from(bytes.toString('latin1').replaceAll('ann', 'eve'), 'latin1');
  t.is(changed.length, bytes.length);
  await writeFile(path, changed);
  const restore = (place: string) => panel.call(`/panel/api/x/backup/restore/${name}`, { body: { place } });
  const local = await restore('local');
  t.is(local.body.code, 'BACKUP_CHANGED', local.text);
  await writeFile(path, bytes);

  // Whoever can write to the target replaces the file and its record.
  const { createHash } = await import('node:crypto');
  const record = JSON.parse(await readFile(`${path}.json`, 'utf8')) as { manifest: object };
  const sha256 = createHash('sha256').update(changed).digest('hex');
  const forged = { ...record, manifest: { ...record.manifest, sha256, contentSha256: sha256 } };
  await writeFile(join(folder, guid, name), changed);
  await writeFile(join(folder, guid, `${name}.json`), JSON.stringify(forged));
  const there = await restore('folder');
  t.is(there.body.code, 'BACKUP_TARGET_FAILED', there.text);
  t.regex(there.text, /another file than the backup/);
  const verified = await panel.call(`/panel/api/x/backup/verify/${name}`, { body: { place: 'folder' } });
  t.is(verified.body.code, 'BACKUP_TARGET_FAILED', verified.text);
});
