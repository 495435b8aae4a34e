// Runs a certificate authority. Of two certificates, on the disk and in the database, the later one counts.
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { testUnless } from '../../../test/harness/left-out.js';
import { OrderingPanel } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());
type Stored = Record<'id' | 'chain' | 'private_key', string>;

issuing(
  'a database from before a renewal, or from before this table, does not bring back the previous certificate',
  async (t) => {
    await using pebble = await Pebble.start();
    let world = await OrderingPanel.boot(pebble);
    const { dataDirectory } = world.panel;
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    const stored = () =>
      withDatabase(
        dataDirectory,
        async (db) => (await db.query('SELECT * FROM certificate_pairs'))[0] as Stored[],
      );
    const restart = async (sql: string, values: readonly string[]): Promise<void> => {
      await world.panel.stop();
      await withDatabase(dataDirectory, (db) => db.query(sql, { replacements: [...values] }));
      world = new OrderingPanel(await TestPanel.boot({ plugins: [new FakeEngine().plugin], dataDirectory }));
    };
    const { id } = await world.add({ names: ['a.example.com'] });
    await world.issue(id);
    const [before] = await stored();
    t.truthy(before?.chain);
    t.false(before?.private_key.includes('PRIVATE KEY'), 'it is sealed');
    // Certificates begin at a full second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const renewed = await world.issue(id);
    const [now] = await stored();
    t.is((await stored()).length, 1);
    t.not(now?.id, before?.id);

    const { id: order = '', chain = '', private_key: key = '' } = before ?? {};
    await restart('UPDATE certificate_pairs SET id = ?, chain = ?, private_key = ?', [order, chain, key]);
    t.is((await world.one(id)).serial, renewed.serial);
    t.is((await stored())[0]?.id, now?.id, 'the database has the later one again');

    await restart('DELETE FROM certificate_pairs', []);
    t.is((await world.one(id)).serial, renewed.serial);
    t.is((await stored())[0]?.id, now?.id, 'also what an earlier version ordered');

    // And the other way: files from before the renewal.
    const folder = dirname(dirname(renewed.certificateFile));
    await rm(folder, { recursive: true });
    await restart('UPDATE certificates SET uses_pending = 0', []);
    t.is((await world.one(id)).serial, renewed.serial);
    t.deepEqual(world.panel.faults, []);
    await world.panel.stop();
  },
);

issuing(
  'a database on a new machine brings its certificates along, and they are used from there',
  async (t) => {
    await using pebble = await Pebble.start();
    const before = await OrderingPanel.boot(pebble);
    const old = before.panel.dataDirectory;
    t.teardown(() => rm(old, { recursive: true, force: true }));
    const { id } = await before.add({ names: ['a.example.com'], uses: { subscription: true } });
    const issued = await before.issue(id);
    await before.panel.stop();

    const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    for (const name of ['weir.sqlite', 'secrets.key'])
      await copyFile(join(old, name), join(dataDirectory, name));
    await rm(join(old, 'certificates'), { recursive: true });
    const world = new OrderingPanel(
      await TestPanel.boot({ plugins: [new FakeEngine().plugin], dataDirectory }),
    );
    const here = await world.one(id);
    t.is(here.serial, issued.serial);
    t.true(here.certificateFile.startsWith(dataDirectory));
    await world.order();
    const { subCertFile } = await world.panel.get<{ subCertFile: string }>('/panel/api/setting/all', {
      body: {},
    });
    t.is(subCertFile, here.certificateFile);
    t.is((await world.one(id)).lastError, '');
    t.deepEqual(world.panel.faults, []);
    await world.panel.stop();
  },
);
