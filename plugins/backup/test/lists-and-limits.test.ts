// What many or large records cost, how many files are fetched at once, and what is never taken for ours.
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { TestPanel } from '../../../test/harness/index.js';
import type { ListedBackup } from '../archive/record.js';
import type { BackupTarget } from '../contract.js';
import { backupWorld } from './backup-world.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
const WHO = { kind: 'session', name: 'admin' } as never;

/** A target in memory. */
class Memory implements BackupTarget {
  readonly name = 'memory';
  readonly files = new Map<string, Buffer>();
  /** awaited before each read */
  wait: Promise<void> | undefined;
  isOn = () => true;
  place = () => 'here';
  async put(name: string, { path }: { readonly path: string }): Promise<void> {
    this.files.set(name, await readFile(path));
  }
  async *read(name: string): AsyncGenerator<Uint8Array> {
    await this.wait;
    yield this.files.get(name) ?? Buffer.alloc(0);
  }
  list = async (folder: string) =>
    [...this.files].map(([name, { length }]) => ({ name: name.slice(folder.length + 1), bytes: length }));
  remove = async (name: string) => void this.files.delete(name);
}

test('records are read a few at a time, as each blocks for a moment', async (t) => {
  const world = await backupWorld(t);
  const { manifest, ...rest } = await world.scheduler.run('admin', WHO);
  const folder = join(world.folder, 'backups');
  for (let n = 0; n < 50; n++) {
    const name = `weir_2020-01-01_${String(n).padStart(6, '0')}.db`;
    await writeFile(join(folder, name), 'copy 0');
    await writeFile(
      join(folder, `${name}.json`),
      JSON.stringify({ manifest: { ...manifest, name }, ...rest }),
    );
  }
  const find = world.localFolder.find.bind(world.localFolder);
  let [now, most] = [0, 0];
  world.localFolder.find = async (name) => {
    most = Math.max(most, ++now);
    return find(name).finally(() => now--);
  };
  t.is((await world.localFolder.list()).length, 51);
  t.true(most <= 4, `${most} at once`);
});

test('at most two files of targets are here at once, and the records of a list have a limit', async (t) => {
  const target = new Memory();
  const world = await backupWorld(t, { targets: [target] });
  const { manifest } = await world.scheduler.run('admin', WHO);
  const open = () => world.archive.open(manifest.name, 'memory');
  const [first, second] = [await open(), await open()];
  await t.throwsAsync(open(), { code: 'BACKUP_BUSY' });
  await Promise.all([first.close(), first.close()]);
  const third = await open();
  await t.throwsAsync(open(), { code: 'BACKUP_BUSY' }, 'closing twice counts once');
  await Promise.all([second.close(), third.close()]);
  t.deepEqual(await readdir(join(world.folder, 'snapshots')), []);
  // One that fails counts no longer.
  const [key = ''] = target.files.keys();
  const content = target.files.get(key) as Buffer;
  target.files.set(key, Buffer.alloc(content.length));
  for (let n = 0; n < 3; n++) await t.throwsAsync(open(), { code: 'BACKUP_TARGET_FAILED' });

  const record = JSON.parse(String(target.files.get(`${key}.json`))) as { manifest: { name: string } };
  for (let n = 0; n < 40; n++) {
    const name = `weir_2020-01-01_${String(n).padStart(6, '0')}.db`;
    target.files.set(key.replace(manifest.name, name), content);
    record.manifest.name = name;
    target.files.set(
      key.replace(manifest.name, `${name}.json`),
      Buffer.from(JSON.stringify(record).padEnd(500_000)),
    );
  }
  await t.throwsAsync(world.archive.list('memory'), { message: /records are too large for a list/ });
});

test('a target that loses the record has no complete copy', async (t) => {
  const target = new Memory();
  const put = target.put.bind(target);
  target.put = async (name, file) => (name.endsWith('.json') ? undefined : put(name, file));
  const world = await backupWorld(t, { targets: [target] });
  const made = await world.scheduler.run('admin', WHO);
  t.regex(made.copies['memory']?.problem ?? '', /it says that it stored \d+ bytes, and returns 0/);
});

test.serial('a folder of an admin is not taken for a leftover, and a record moves no cursor', async (t) => {
  await using panel = await TestPanel.boot({ env: ENV });
  const folder = await folderFor(t);
  const old = new Date(Date.now() - 86_400_000);
  for (const name of ['copy-friday', 'copy-photos', '.weir-copy-abcDEF']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'x'), 'x');
    await utimes(join(folder, name), old, old);
  }
  const { code, complained } = await weirCommand(panel.dataDirectory, ['backup', '--folder', folder]);
  t.is(code, 0, complained);
  t.deepEqual(
    (await readdir(folder)).filter((name) => !name.startsWith('weir_')),
    ['copy-friday', 'copy-photos'],
  );

  const { manifest } = await panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
  const path = join(panel.dataDirectory, 'backups', `${manifest.name}.json`);
  const record = JSON.parse(await readFile(path, 'utf8')) as ListedBackup;
  const verification = { ...record.verification, state: 'failed', problem: 'a\u001b[2J\u009b1mb' };
  await writeFile(path, JSON.stringify({ ...record, verification }));
  const { said } = await weirCommand(panel.dataDirectory, ['backups']);
  t.regex(said, /failed a\?\[2J\?1mb/);
  const secret = `AGE-SECRET-KEY-${'1Q'.repeat(20)}`;
  const refused = await weirCommand(panel.dataDirectory, ['backup', '--recipients', secret]);
  t.is(refused.code, 1);
  t.regex(refused.complained, /--recipients: key number 1: it is a secret key/);
  t.false(refused.complained.includes('1Q1Q'));
  for (const [option, path, code] of [
    ['identity', folder, 'EISDIR'],
    ['key', '/nothing', 'ENOENT'],
  ] as const) {
    const argv = ['backup', 'restore', '--file', '/nothing', `--${option}`, path];
    const { complained: why } = await weirCommand(panel.dataDirectory, argv);
    t.true(why.includes(`--${option}: ${path} cannot be read: ${code}`), why);
  }
});
