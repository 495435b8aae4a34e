// `weir restore`, with a panel that runs and without one, and a panel that does not start with the restored database.
import { onlyOn } from '../../../test/harness/left-out.js';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { weirCommand } from '../../../test/harness/weir-command.js';
import { folderFor } from '../../../test/harness/folder-for.js';

const run = onlyOn(onSqlite, 'SQLite', test.serial);
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };

async function start(t: ExecutionContext, dataDirectory: string): Promise<ProgramPanel> {
  const panel = await ProgramPanel.start({ dataDirectory, env: ENV });
  t.teardown(() => panel.stop());
  return panel;
}
const emails = async (panel: ProgramPanel): Promise<string[]> =>
  (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();

run('weir restore in a running panel waits for its restart', async (t) => {
  const [data, folder] = [await folderFor(t), await folderFor(t)];
  const panel = await start(t, data);
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const { said } = await weirCommand(data, ['backup', '--folder', folder]);
  await panel.addClient('bob', [id]);
  const done = await weirCommand(data, ['restore', said.trim()], ENV);
  t.is(done.code, 0, done.complained);
  t.regex(done.said, /the panel runs with the restored database/);
  await panel.login();
  t.deepEqual(await emails(panel), ['ann']);
});

run(
  'weir restore makes a new data folder from a backup and its key, and the secrets can be read',
  async (t) => {
    const [data, folder, other] = [await folderFor(t), await folderFor(t), await folderFor(t)];
    const panel = await start(t, data);
    const id = await panel.addInbound();
    await panel.addClient('ann', [id]);
    await panel
      .get('/panel/api/setting/update', { body: { smtpPassword: 'a secret' } })
      .catch(() => undefined);
    const { said } = await weirCommand(data, ['backup', '--folder', folder]);
    const path = said.trim();
    await copyFile(join(data, 'secrets.key'), join(folder, 'key'));
    await panel.stop();

    const done = await weirCommand(other, ['restore', path, '--key', join(folder, 'key')], ENV);
    t.is(done.code, 0, done.complained);
    t.regex(done.said, /restored \d+ rows/);
    t.is(
      await readFile(join(other, 'secrets.key'), 'utf8'),
      await readFile(join(data, 'secrets.key'), 'utf8'),
    );
    const restored = await start(t, other);
    t.deepEqual(await emails(restored), ['ann']);
    t.deepEqual(restored.faults, []);

    const wrong = await weirCommand(other, ['restore', join(folder, 'key')], ENV);
    t.is(wrong.code, 1);
    t.regex(wrong.complained, /not a SQLite file/);
    t.deepEqual(await emails(restored), ['ann']);
  },
);

run('a panel that does not start with the restored database goes on with the previous one', async (t) => {
  const [data, folder] = [await folderFor(t), await folderFor(t)];
  const panel = await start(t, data);
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  const { said } = await weirCommand(data, ['backup', '--folder', folder]);
  await panel.addClient('bob', [id]);
  // Between the rehearsal and the restart something breaks: the key of the secrets is damaged.
  const key = join(data, 'secrets.key');
  const { chmod, writeFile } = await import('node:fs/promises');
  const whole = await readFile(key, 'utf8');
  const restoring = weirCommand(data, ['restore', said.trim()], ENV);
  await panel.until(
    async () => (await readdir(data)).some((name) => name.startsWith('restore-')),
    'the rehearsal has begun',
  );
  await panel.until(() => panel.said('restoring a backup') !== undefined, 'the rehearsal is over');
  await writeFile(key, 'damaged\n');
  await panel.until(
    () => panel.said('the restart failed; restoring the previous database') !== undefined,
    'the start failed',
    20_000,
  );
  await writeFile(key, whole);
  await chmod(key, 0o600);
  const { code, complained } = await restoring;
  t.is(code, 1);
  t.regex(complained, /the restore failed, and the previous database is in use/);
});
