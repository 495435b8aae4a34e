// What an admin does with the program around the panel: restarts, plugins, backups.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';

interface Change {
  readonly area: string;
  readonly name: string;
  readonly who: string;
  readonly whoKind: string;
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}

onlyOn(
  onSqlite,
  'SQLite',
  test,
)('restarts, plugins and restores are recorded, also in the database that comes back', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const env = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
  const panel = await ProgramPanel.start({ dataDirectory, env });
  t.teardown(() => panel.stop());
  let starts = 0;
  const again = async () => {
    starts += 1;
    const seen = () => panel.log.filter(({ msg }) => msg === 'the panel started again').length;
    await panel.until(() => seen() === starts, 'the panel started again');
    await panel.login();
  };
  const changes = (area: string) => panel.get<Change[]>(`/panel/api/x/audit/changes?area=${area}`);
  await panel.call('/panel/api/setting/restartPanel', { method: 'POST' });
  await again();
  t.is((await changes('panel'))[0]?.name, 'restart');
  await panel.call('/panel/api/system/plugins/keygen', { body: { enable: false } });
  await again();
  t.like((await changes('plugin'))[0], { name: 'keygen', who: 'admin', fields: { enable: [null, false] } });

  const response = await fetch(`${panel.url}/panel/api/server/getDb`, { headers: { cookie: panel.cookie } });
  const form = new FormData();
  form.append('db', new Blob([await response.arrayBuffer()]), 'backup.db');
  await panel.addInbound();
  await fetch(`${panel.url}/panel/api/server/importDB`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  await again();
  const [restored, ...others] = await changes('backup');
  t.like(restored, { name: 'restored', whoKind: 'plugin' });
  t.deepEqual(others, [], 'who asked for it stands in the previous database');
  const previous = String(restored?.fields['previous']?.[1]);
  t.true((await readFile(previous)).length > 0);
  t.is((await changes('download'))[0]?.name, 'database');
  const { problems } = await panel.get<{ problems: string[] }>('/panel/api/x/audit/verify', {
    method: 'POST',
  });
  t.deepEqual(problems, []);
});
