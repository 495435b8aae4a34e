// `kill -9` at many moments of a restore: the next start has the previous database or the restored one, and says which.
import { onlyOn } from '../../../test/harness/left-out.js';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onSqlite } from '../../../test/harness/database.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { weirProcess } from '../../../test/harness/weir-command.js';
import type { LastRestore } from '../contract.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
/** ms after the rehearsal: the reply, the stop, the swap, the start */
const AFTER = [0, 100, 150, 200, 250, 300, 350, 400, 500, 600, 800, 1200];
/** ms after the upload began */
const DURING = [50, 500, 1500];

const emails = async (panel: PanelProcess): Promise<string> =>
  (await panel.get<{ email: string }[]>('/panel/api/clients/list'))
    .map(({ email }) => email)
    .sort()
    .join();

onlyOn(onSqlite, 'SQLite')(
  'kill -9 during a restore leaves the previous database or the restored one',
  async (t) => {
    t.timeout(20 * 60_000);
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    let panel = await PanelProcess.start({ env: ENV });
    const { dataDirectory } = panel;
    t.teardown(async () => {
      await panel.dispose();
      await rm(folder, { recursive: true, force: true });
    });
    const id = await panel.addInbound();
    await panel.addClient('ann', [id]);
    const response = await fetch(`${panel.url}/panel/api/server/getDb`, {
      headers: { cookie: panel.cookie },
    });
    const backup = Buffer.from(await response.arrayBuffer());
    await writeFile(join(folder, 'backup.db'), backup);
    const outcomes: string[] = [];
    for (const [during, ms] of [
      ...DURING.map((d) => [true, d] as const),
      ...AFTER.map((d) => [false, d] as const),
    ]) {
      if ((await emails(panel)) === 'ann') await panel.addClient('bob', [id]);
      const form = new FormData();
      form.append('db', new Blob([backup]), 'backup.db');
      const sent = fetch(`${panel.url}/panel/api/server/importDB`, {
        method: 'POST',
        headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
        body: form,
      }).catch(() => undefined);
      const running = panel;
      if (!during)
        await running.until(
          () => running.said('restoring a backup') !== undefined,
          'the rehearsal is over',
          60_000,
        );
      await sleep(ms);
      await running.kill('SIGKILL');
      await sent;
      panel = await PanelProcess.start({ dataDirectory, env: ENV });
      const found = await emails(panel);
      const last = await panel.get<LastRestore | null>('/panel/api/x/backup/restore');
      outcomes.push(`${during ? 'during' : 'after'} ${ms}: ${found}, ${last?.state} ${last?.problem}`);
      t.true(found === 'ann' || found === 'ann,bob', found);
      if (found === 'ann') t.is(last?.state, 'done');
      t.not(last?.state, 'under way', 'the next start says which');
      t.deepEqual(
        (await readdir(dataDirectory)).filter((name) => name.startsWith('restore-')),
        [],
      );
      const checked = await weirProcess(dataDirectory, ['invariants']);
      t.is(checked.code, 0, checked.said);
    }
    t.log(outcomes.join('\n'));
  },
);
