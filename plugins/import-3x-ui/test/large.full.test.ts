// Runs on every database in test:full.
// 100,000 clients move in, and others are answered meanwhile; kill -9 in the middle, and the same command continues.
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { onlyOn } from '../../../test/harness/left-out.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import { weirProcess } from '../../../test/harness/weir-command.js';
import { copyOf } from './database.js';

const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
/** Clients of one inbound, with counters, in the table and in its settings. */
const many = (count: number): string => `
  DELETE FROM hosts; DELETE FROM client_inbounds; DELETE FROM clients; DELETE FROM client_traffics; DELETE FROM inbounds WHERE id > 2;
  CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) SELECT i, printf('%08x-1111-4111-8111-%012x', i, i) AS uuid FROM n;
  INSERT INTO clients (id, email, sub_id, uuid, password, total_gb, expiry_time, enable, group_name, comment)
    SELECT i, 'c' || i || '@old.example', 'sub' || i, uuid, 'p' || i, i * 1000, 0, 1, '', 'number ' || i FROM n;
  INSERT INTO client_traffics (inbound_id, enable, email, up, down, expiry_time, total) SELECT 1, 1, 'c' || i || '@old.example', i, 2 * i, 0, i * 1000 FROM n;
  INSERT INTO client_inbounds (client_id, inbound_id) SELECT i, 1 + i % 2 FROM n;
  UPDATE inbounds SET settings = json_object('decryption', 'none', 'clients', (SELECT json_group_array(json_object('id', uuid, 'email', 'c' || i || '@old.example', 'enable', json('true'))) FROM n WHERE 1 + i % 2 = inbounds.id));`;

test('100,000 clients', async (t) => {
  t.timeout(20 * 60_000);
  const panel = await PanelProcess.start({ env: ENV });
  t.teardown(() => panel.dispose());
  const path = await copyOf(t, many(100_000));
  const began = performance.now();
  let isOver = false;
  let longest = 0;
  const asking = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await panel.get('/panel/api/groups/none').catch(() => undefined);
      longest = Math.max(longest, performance.now() - asked);
      await sleep(100);
    }
  })();
  const done = await weirProcess(panel.dataDirectory, ['import', '3x-ui', path]);
  isOver = true;
  await asking;
  t.is(done.code, 0, done.complained);
  t.regex(done.said, /^clients: 100000 found, 100000 taken$/m);
  t.regex(done.said, /^bytes up: 5000050000 in the file, 5000050000 here$/m);
  t.regex(done.said, /^attachments: 100000 in the file, 100000 here$/m);
  t.log(
    `${Math.round((performance.now() - began) / 1000)} s; the longest wait of another caller: ${Math.round(longest)} ms`,
  );
});

onlyOn(onSqlite, 'SQLite')('kill -9 in the middle, and the same command goes on', async (t) => {
  t.timeout(20 * 60_000);
  let panel = await PanelProcess.start({ env: ENV });
  const { dataDirectory } = panel;
  t.teardown(() => panel.dispose());
  const path = await copyOf(t, many(10_000));
  const total = async (): Promise<number> =>
    (await panel.get<{ total: number }>('/panel/api/clients/list/paged')).total;
  let before = 0;
  for (const enough of [1, 4000]) {
    const running = weirProcess(dataDirectory, ['import', '3x-ui', path]);
    while ((await total()) < enough) await sleep(20);
    await panel.kill('SIGKILL');
    await running;
    panel = await PanelProcess.start({ dataDirectory, env: ENV });
    before = await total();
    t.true(before >= enough && before < 10_000, `${before} clients were there after a kill`);
  }
  const done = await weirProcess(dataDirectory, ['import', '3x-ui', path]);
  t.is(done.code, 0, done.complained);
  t.regex(done.said, new RegExp(`^clients: 10000 found, ${10_000 - before} taken`, 'm'));
  t.is(await total(), 10_000);
  const traffic = await panel.get<{ up: number; down: number }>('/panel/api/clients/traffic/c77@old.example');
  t.deepEqual([traffic.up, traffic.down], [77, 154]);
  const checked = await weirProcess(dataDirectory, ['invariants']);
  t.is(checked.code, 0, checked.said);
  t.log(`${before} clients were there after two kills`);
});
