// Runs on every database.
// What is done with clients of resellers while this plugin does not run is found at its next start.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { dropDatabase } from '../../../test/harness/database.js';
import { withDatabase } from '../../../test/harness/edit-database.js';
import { addSeller, boot, GIB, login, OWN, Seller } from './world.js';

interface Row {
  readonly client_id: number;
  readonly granted: number;
  readonly gone_at: number;
}

test('deletions, undos and higher limits are found at the start', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  const first = await boot(folder);
  const { inbound } = first;
  const fields = { inboundIds: [inbound], maxClients: 3, maxBytes: 100 * GIB };
  const before = await addSeller(first.panel, 'north', fields);
  const add = (email: string) => before.add(email, { inboundIds: [inbound], totalGB: 10 * GIB });
  const [ada, gone, back] = [await add('ada'), await add('gone'), await add('back')];
  await first.panel.stop();

  const rows = () =>
    withDatabase(folder, async (sequelize) => {
      const [found] = await sequelize.query('SELECT * FROM reseller_clients ORDER BY client_id');
      return found as Row[];
    });
  await withDatabase(folder, async (sequelize) => {
    await sequelize.query(`DELETE FROM clients WHERE id = ${gone.id}`);
    await sequelize.query(`UPDATE clients SET total_gb = ${40 * GIB} WHERE id = ${ada.id}`);
    // Deleted with the plugin, and brought back without it.
    await sequelize.query(`UPDATE reseller_clients SET gone_at = 5 WHERE client_id = ${back.id}`);
  });

  const { panel } = await boot(folder);
  await using _ = panel;
  const north = new Seller(panel, await login(panel, 'north'), { id: before.id, admin: before.admin });
  t.deepEqual(await north.emails(), ['ada', 'back']);
  t.is((await north.figures()).clients, 2, 'one that is gone takes no place');
  t.is(await north.change(ada.id, { comment: 'what others gave costs nothing' }), '200');
  t.is(await north.given(), 30);
  const kept = { email: 'kay', inboundIds: [inbound], totalGB: GIB };
  t.is(await north.told(`${OWN}/clients`, kept), '200');
  const stored = (await rows()).map(({ client_id, granted, gone_at }) => ({
    id: Number(client_id),
    granted: Number(granted) / GIB,
    isGone: Number(gone_at) > 0,
  }));
  t.deepEqual(stored.slice(0, 3), [
    { id: ada.id, granted: 40, isGone: false },
    { id: gone.id, granted: 10, isGone: true },
    { id: back.id, granted: 10, isGone: false },
  ]);
  t.deepEqual(panel.faults, []);
});
