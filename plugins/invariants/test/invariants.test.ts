// Runs on every database.
// What the checks find, and what they must not find, on panels that are at work.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { invariants } from '../../../test/harness/invariants.js';

async function open() {
  const checks = invariants();
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [checks.plugin] });
  const inbound = await panel.addInbound();
  for (const email of ['ada', 'bob', 'eve']) await panel.addClient(email, [inbound], { group: 'family' });
  return { checks, panel, inbound };
}

test('nothing is found in a panel that works, also while many edit it', async (t) => {
  const { checks, panel, inbound } = await open();
  await using _ = panel;
  // It names no inbound, and its row has no value there.
  await panel.get(`/panel/api/inbounds/${inbound}/fallbacks`, {
    body: { fallbacks: [{ dest: '9.9.9.9:80' }] },
  });
  t.deepEqual(await checks.broken(), []);
  const names = (await checks.run()).map(({ plugin, name }) => `${plugin}: ${name}`);
  t.true(names.length >= 6, names.join('\n'));
  let editing = true;
  const edits = (async () => {
    for (let i = 0; editing; i++) {
      await Promise.all([
        panel.addClient(`c${i}`, [inbound]),
        panel.get('/panel/api/clients/update/ada', { body: { comment: `edit ${i}` } }),
        panel.get('/panel/api/clients/updateTraffic/bob', { body: { upload: i, download: 7 } }),
      ]);
      if (i > 5) await panel.get(`/panel/api/clients/del/c${i - 5}`, { method: 'POST' });
    }
  })();
  for (let round = 0; round < 5; round++) t.deepEqual(await checks.broken(), []);
  editing = false;
  await edits;
  t.deepEqual(await checks.broken(), []);
});

test('a change that no API has passed on is found, with the client and both values', async (t) => {
  const { checks, panel } = await open();
  await using _ = panel;
  const edit = (...statements: string[]) =>
    withDatabase(panel.dataDirectory, async (sequelize) => {
      for (const statement of statements) await sequelize.query(statement);
    });
  const { id } = await panel.get<{ id: number }>('/panel/api/clients/get/bob');
  await edit(`UPDATE clients SET comment = 'by hand' WHERE email = 'bob'`);
  const found = (await checks.broken()).join();
  t.regex(
    found,
    new RegExp(
      `clients in memory are those of the database: 1 +client ${id} \\(bob\\): comment is "" in memory, and "by hand" in the database`,
    ),
  );
  t.false(found.includes(`client ${id - 1} `));
  await edit(`UPDATE clients SET comment = '' WHERE email = 'bob'`);
  t.deepEqual(await checks.broken(), []);

  await edit(`DELETE FROM clients WHERE email = 'eve'`);
  t.regex((await checks.broken()).join(), /client 3 .*is in memory, and not in the database/);
});

test('a row that names nothing is found', async (t) => {
  const { checks, panel } = await open();
  await using _ = panel;
  await withDatabase(panel.dataDirectory, async (sequelize) => {
    const off =
      sequelize.getDialect() === 'sqlite' ? 'PRAGMA foreign_keys = OFF' : 'SET foreign_key_checks = 0';
    await sequelize.query(off);
    await sequelize.query('INSERT INTO client_inbounds (client_id, inbound_id) VALUES (1, 4711)');
  });
  t.regex((await checks.broken()).join(), /references lead to rows: 1 .*client_inbounds.*inbounds/);
});

test('what a check finds beyond twenty is counted, and a check that fails is said to have failed', async (t) => {
  const { checks, panel, inbound } = await open();
  await using _ = panel;
  await panel.get('/panel/api/clients/bulkCreate', {
    body: Array.from({ length: 40 }, (_, i) => ({ client: { email: `m${i}` }, inboundIds: [inbound] })),
  });
  await withDatabase(panel.dataDirectory, (sequelize) => sequelize.query('UPDATE clients SET tg_id = 7'));
  const memory = (await checks.run()).find(({ name }) => name.startsWith('clients in memory'));
  t.deepEqual([memory?.count, memory?.found.length], [43, 20]);
  await withDatabase(panel.dataDirectory, (sequelize) => sequelize.query('DROP TABLE client_devices'));
  t.regex((await checks.broken()).join(), /the check failed: /);
});
