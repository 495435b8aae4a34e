// `kill -9` at many moments of a backup, its copy, its verification, a rotation and the restore of an encrypted one: what is
// listed afterwards is whole, and nothing else is left.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onSqlite } from '../../../test/harness/database.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { weirProcess } from '../../../test/harness/weir-command.js';
import { digestOf } from '../archive/digest.js';
import type { ListedBackup } from '../archive/record.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
const API = '/panel/api/x/backup';
/** Parts of the time that the work takes. */
const MOMENTS = [0.02, 0.1, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 1];

/** Whether the rehearsal is over, and ms after that, or after the call. */
const RESTORES = [
  [false, 50],
  [false, 700],
  [false, 1_500],
  [true, 150],
  [true, 400],
  [true, 1_000],
] as const;

onlyOn(onSqlite, 'SQLite')('kill -9 at any moment leaves whole backups only', async (t) => {
  t.timeout(30 * 60_000);
  const { generateIdentity, identityToRecipient } = await import('age-encryption');
  const identity = await generateIdentity();
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  let panel = await PanelProcess.start({ env: ENV });
  const { dataDirectory } = panel;
  t.teardown(async () => {
    await panel.dispose();
    await rm(folder, { recursive: true, force: true });
  });
  const id = await panel.addInbound();
  await panel.addClient('ann', [id]);
  await panel.get('/panel/api/setting/update', {
    body: {
      backupRecipients: [await identityToRecipient(identity)],
      backupFolder: folder,
      backupKeepLast: 1,
      backupKeepDays: 0,
      backupKeepWeeks: 0,
      backupKeepMonths: 0,
    },
  });
  const names = (some: readonly string[]) => some.filter((name) => name.startsWith('weir_')).sort();
  const check = async (what: string): Promise<void> => {
    const listed = await panel.get<ListedBackup[]>(`${API}/list`);
    t.true(listed.length >= 1, `${what}: one is always there`);
    const local = await readdir(join(dataDirectory, 'backups'));
    t.deepEqual(
      names(local),
      listed.flatMap(({ manifest: { name } }) => [name, `${name}.json`]).sort(),
      `${what}: files without a record, or the other way round`,
    );
    t.false(
      local.some((name) => name.endsWith('.part')),
      what,
    );
    for (const { manifest, verification, problem } of listed) {
      t.is(problem, '', what);
      t.is(verification.state, 'verified', what);
      const { sha256 } = await digestOf(join(dataDirectory, 'backups', manifest.name));
      t.is(sha256, manifest.sha256, what);
    }
    for (const { manifest, problem } of await panel.get<ListedBackup[]>(`${API}/list?place=folder`)) {
      t.is(problem, '', what);
      const { sha256 } = await digestOf(join(folder, manifest.guid, manifest.name));
      t.is(sha256, manifest.sha256, `${what}: at the target`);
    }
    t.deepEqual(
      (await readdir(dataDirectory)).filter((name) => name.startsWith('restore-')),
      [],
      what,
    );
    t.deepEqual(await readdir(join(dataDirectory, 'snapshots')).catch(() => []), [], `${what}: plain copies`);
  };
  const run = () => panel.get<ListedBackup>(`${API}/run`, { method: 'POST' });
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    run,
    verify: async () => {
      const [newest] = await panel.get<ListedBackup[]>(`${API}/list`);
      return panel.get(`${API}/verify/${newest?.manifest.name}`, { body: { identity } });
    },
  };
  for (let n = 0; n < 2; n++) await run();
  for (const [what, work] of Object.entries(works)) {
    const began = performance.now();
    await work();
    const whole = performance.now() - began;
    for (const part of MOMENTS) {
      const working = work().catch(() => undefined);
      await sleep(whole * part);
      await panel.kill('SIGKILL');
      await working;
      panel = await PanelProcess.start({ dataDirectory, env: ENV });
      await check(`${what} ${part}`);
    }
    t.log(`${what} takes ${Math.round(whole)} ms`);
  }
  // A run after all this leaves one here, one at the target, and none of the halves.
  const last = await run();
  t.is(last.copies['folder']?.problem, '');
  await check('at the end');
  t.deepEqual((await readdir(join(folder, last.manifest.guid))).sort(), [
    last.manifest.name,
    `${last.manifest.name}.json`,
  ]);

  // The restore of the encrypted backup.
  await panel.addClient('bob', [id]);
  const outcomes: string[] = [];
  for (const [isRehearsed, ms] of RESTORES) {
    const found = async () =>
      (await panel.get<{ email: string }[]>('/panel/api/clients/list'))
        .map(({ email }) => email)
        .sort()
        .join();
    if ((await found()) === 'ann') await panel.addClient('bob', [id]);
    const working = panel
      .call(`${API}/restore/${last.manifest.name}`, { body: { identity } })
      .catch(() => undefined);
    const running = panel;
    if (isRehearsed)
      await running.until(
        () => running.said('restoring a backup') !== undefined,
        'the rehearsal is over',
        60_000,
      );
    await sleep(ms);
    await running.kill('SIGKILL');
    await working;
    panel = await PanelProcess.start({ dataDirectory, env: ENV });
    const emails = await found();
    outcomes.push(`${isRehearsed ? 'after the rehearsal' : 'during it'} ${ms} ms: ${emails}`);
    t.true(emails === 'ann' || emails === 'ann,bob', emails);
    await check(`restore ${ms}`);
    t.is((await weirProcess(dataDirectory, ['invariants'])).code, 0);
  }
  t.log(outcomes.join('; '));
});
