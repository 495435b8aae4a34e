// Runs on every database in test:full.
// Panels of two versions share a database while they are upgraded one after another, unless the newer one takes away what
// the older one uses.
import test from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import { isOlder } from '../contract.js';
import { OtherBuild } from './other-build.js';
import { Panels } from './two-panels.js';

const onServer = onSqlite ? test.skip : test.serial;
const SMALL = { WEIR_PRESET: 'minimal' };
const EXPANSION = `{ name: '9001-later', up: () => [
  "ALTER TABLE clients ADD COLUMN later_note VARCHAR(64) NOT NULL DEFAULT 'none'",
  "CREATE INDEX clients_later_note ON clients (later_note)",
  "CREATE TABLE later_notes (client_id BIGINT PRIMARY KEY, note VARCHAR(64))",
] }`;
const CONTRACTION = `{ name: '9002-later', unusedSince: '0.2.0', up: () => ['DROP TABLE later_notes'] }`;

test('an older release is told from a newer one', (t) => {
  t.true(isOlder('0.1.0', '0.2.0'));
  t.true(isOlder('0.9.9', '0.10.0'));
  t.false(isOlder('0.2.0', '0.2.0'));
  t.false(isOlder('1.0.0', '0.9.9'));
  t.false(isOlder('0.2.0-rc.1', '0.2.0'));
});

onServer('a newer panel adds to the tables while the older one works, and both see all edits', async (t) => {
  await using panels = await Panels.open();
  await using later = await OtherBuild.of('0.2.0', EXPANSION);
  const old = await panels.start('old', SMALL);
  const inbound = await old.addInbound({ remark: 'shared' });
  const fresh = await panels.start('fresh', SMALL, { entry: later.entry });
  t.is(fresh.log.filter(({ msg }) => msg === 'migrated').length, 1);
  const comment = (panel: typeof old, email: string) =>
    panel.get<{ comment: string }>(`/panel/api/clients/get/${email}`).then((client) => client.comment);
  for (const [writer, reader, email] of [
    [old, fresh, 'ada'],
    [fresh, old, 'eve'],
  ] as const) {
    const client = await writer.addClient(email, [inbound], { comment: 'new' });
    await reader.until(
      async () => (await reader.call(`/panel/api/clients/get/${email}`)).status === 200,
      'the other panel has the client',
    );
    await reader.get(`/panel/api/clients/update/${email}`, { body: { ...client, comment: 'edited' } });
    await writer.until(async () => (await comment(writer, email)) === 'edited', 'and its edit comes back');
  }
  await old.get('/panel/api/clients/del/eve', { body: {} });
  await fresh.until(
    async () => (await fresh.call('/panel/api/clients/get/eve')).status === 404,
    'and a deletion reaches the newer one',
  );
  const rows = await panels.query<{ later_note: string }>('SELECT later_note FROM clients');
  t.deepEqual(rows, [{ later_note: 'none' }]);
  const versions = await panels.query('SELECT name, version FROM cluster_panels ORDER BY name');
  t.deepEqual(versions, [
    { name: 'fresh', version: '0.2.0' },
    { name: 'old', version: '0.1.0' },
  ]);
  t.is(old.starts, 1);
  t.deepEqual([...old.faults, ...fresh.faults], []);
});

onServer(
  'a panel that takes away what a running one uses does not start; later, the older one does not',
  async (t) => {
    await using panels = await Panels.open();
    await using next = await OtherBuild.of('0.3.0', `${EXPANSION}, ${CONTRACTION}`);
    const old = await panels.start('old', SMALL);
    const tooEarly = await t.throwsAsync(panels.start('next', SMALL, { entry: next.entry }));
    t.regex(
      tooEarly?.message ?? '',
      /the panel old has version 0\.1\.0, and 0\.3\.0 runs beside 0\.2\.0 or newer only; upgrade that one to 0\.2\.0 first, or stop it/,
    );
    // Nothing was migrated.
    t.deepEqual(await panels.query("SELECT name FROM kernel_migrations WHERE name LIKE '900%'"), []);
    await old.addInbound({ remark: 'still works' });
    await old.kill('SIGTERM');
    const upgraded = await panels.start('next', SMALL, { entry: next.entry });
    t.deepEqual(
      (await upgraded.get<{ remark: string }[]>('/panel/api/inbounds/list')).map(({ remark }) => remark),
      ['still works'],
    );
    const tooLate = await t.throwsAsync(panels.start('old', SMALL));
    t.regex(
      tooLate?.message ?? '',
      /this panel has version 0\.1\.0, and panels of this database need 0\.2\.0 or newer/,
    );
  },
);
