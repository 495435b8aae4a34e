// Encrypted backups of a panel, from the settings to the restore.
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import type { ListedBackup } from '../archive/record.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const run = onlyOn(onSqlite, 'SQLite', test.serial);
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };

async function keys(): Promise<{ identity: string; recipient: string }> {
  const { generateIdentity, identityToRecipient } = await import('age-encryption');
  const identity = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

const set = (panel: ProgramPanel, body: object) => panel.call('/panel/api/setting/update', { body });
const runBackup = (panel: ProgramPanel) =>
  panel.get<ListedBackup>('/panel/api/x/backup/run', { method: 'POST' });
const emails = async (panel: ProgramPanel): Promise<string[]> =>
  (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();
const restarted = (panel: ProgramPanel, from: number) =>
  panel.until(
    () =>
      panel.log
        .slice(from)
        .some(({ msg }) => msg === 'the panel started again' || /^the restart failed/.test(msg)),
    'the panel started again',
    60_000,
  );

run('a backup for a public key: the panel cannot open it, and its owner restores it', async (t) => {
  const [data, folder, other] = [await folderFor(t), await folderFor(t), await folderFor(t)];
  const panel = await ProgramPanel.start({ dataDirectory: data, env: ENV });
  t.teardown(() => panel.stop());
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const [mine, theirs] = [await keys(), await keys()];
  t.is((await set(panel, { backupRecipients: [mine.recipient] })).status, 200);
  const both = await set(panel, { backupPassphrase: 'a long passphrase' });
  t.is(both.status, 400);
  t.regex(both.text, /cannot be used at the same time/);

  const { manifest, verification } = await runBackup(panel);
  const { name } = manifest;
  t.regex(name, /\.db\.age$/);
  t.like(manifest, { encryption: 'recipients', recipients: [mine.recipient], counts: { clients: 1 } });
  t.like(verification, { state: 'verified', method: 'restored' });
  t.true(manifest.bytes > manifest.contentBytes);
  t.not(manifest.sha256, manifest.contentSha256);
  const path = join(data, 'backups', name);
  const bytes = await readFile(path);
  t.false(bytes.includes('SQLite format'));
  t.deepEqual(await readdir(join(data, 'snapshots')), [], 'no plain copy stays');

  // The panel has no identity: it compares the file only. With one, it restores it.
  const verify = (body: object) => panel.call<ListedBackup>(`/panel/api/x/backup/verify/${name}`, { body });
  t.like((await verify({})).body.obj.verification, { state: 'verified', method: 'digest' });
  t.like((await verify({ identity: mine.identity })).body.obj.verification, {
    state: 'verified',
    method: 'restored',
  });
  const bad = await verify({ identity: `AGE-SECRET-KEY-${'1'.repeat(40)}` });
  t.is(bad.status, 400);
  t.regex(bad.text, /identity number 1 is not valid/);
  t.false(bad.text.includes('1'.repeat(40)));
  const plain = await weirCommand(data, ['backup', '--folder', folder, '--encrypt']);
  t.is(plain.code, 0, plain.complained);
  t.regex(plain.said, /\.db\.age\n$/);
  const forOther = await weirCommand(data, ['backup', '--folder', folder, '--recipients', theirs.recipient]);
  t.is(forOther.code, 0, forOther.complained);
  t.regex((await weirCommand(data, ['backup', '--recipients', 'age1x'])).complained, /not a public key/);

  // importDB and the list: without the identity nothing changes.
  await panel.addClient('bob', [id]);
  const restore = (body: object) => panel.call(`/panel/api/x/backup/restore/${name}`, { body });
  for (const body of [{}, { identity: theirs.identity }]) {
    const { status, text } = await restore(body);
    t.is(status, 422, text);
    t.regex(text, /an identity or a passphrase is needed|encrypted for another/);
  }
  const damaged = Buffer.from(bytes);
  damaged.writeUInt8(damaged.readUInt8(20_000) ^ 1, 20_000);
  const form = new FormData();
  form.append('identity', mine.identity);
  form.append('db', new Blob([damaged as never]), 'backup.db.age');
  const imported = await fetch(`${panel.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  t.is(imported.status, 422);
  t.regex(await imported.text(), /its content does not match its seal/);
  t.deepEqual(await emails(panel), ['ann', 'bob']);
  t.deepEqual(
    (await readdir(data)).filter((entry) => entry.startsWith('restore')),
    [],
    'no decrypted file stays',
  );

  const before = panel.log.length;
  const done = await restore({ identity: `# my key\n${mine.identity}\n` });
  t.is(done.status, 200, done.text);
  await restarted(panel, before);
  await panel.login();
  t.deepEqual(await emails(panel), ['ann']);
  t.false(panel.log.some((line) => JSON.stringify(line).includes(mine.identity)));
  t.false(JSON.stringify(await panel.get('/panel/api/x/audit/changes')).includes(mine.identity));

  // Elsewhere, without a panel.
  await writeFile(join(folder, 'id'), `${mine.identity}\n`);
  await writeFile(join(folder, 'key'), await readFile(join(data, 'secrets.key')));
  const offline = ['restore', path, '--key', join(folder, 'key')];
  const without = await weirCommand(other, offline, ENV);
  t.is(without.code, 1);
  t.regex(without.complained, /an identity or a passphrase is needed/);
  const moved = await weirCommand(other, [...offline, '--identity', join(folder, 'id')], ENV);
  t.is(moved.code, 0, moved.complained);
  const restored = await ProgramPanel.start({ dataDirectory: other, env: ENV });
  t.teardown(() => restored.stop());
  t.deepEqual(await emails(restored), ['ann']);
});

run('a backup with a passphrase, which is sealed in the settings', async (t) => {
  const data = await folderFor(t);
  const panel = await ProgramPanel.start({ dataDirectory: data, env: ENV });
  t.teardown(() => panel.stop());
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const passphrase = randomBytes(12).toString('hex');
  t.is((await set(panel, { backupPassphrase: passphrase })).status, 200);
  t.false((await readFile(join(data, 'weir.sqlite'))).includes(passphrase));
  const { manifest } = await runBackup(panel);
  t.is(manifest.encryption, 'passphrase');
  const verified = await panel.get<ListedBackup>(`/panel/api/x/backup/verify/${manifest.name}`, { body: {} });
  t.like(verified.verification, { state: 'verified', method: 'restored' });
  await panel.addClient('bob', [id]);

  // The panel's own passphrase opens it; another one does not.
  await set(panel, { backupPassphrase: 'another passphrase' });
  const wrong = await panel.call(`/panel/api/x/backup/restore/${manifest.name}`, { body: {} });
  t.is(wrong.status, 422);
  t.regex(wrong.text, /encrypted for another/);
  const path = join(data, 'backups', manifest.name);
  await writeFile(join(data, 'phrase'), `${passphrase}\n`);
  const done = await weirCommand(data, ['restore', path, '--passphrase-file', join(data, 'phrase')], ENV);
  t.is(done.code, 0, done.complained);
  await panel.login();
  t.deepEqual(await emails(panel), ['ann']);
  t.false(panel.log.some((line) => JSON.stringify(line).includes(passphrase)));
});
