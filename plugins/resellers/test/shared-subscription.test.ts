// Runs on every database.
// A subscription that an import gave to several clients shows the links of all of them: none of them becomes a reseller's,
// and the address is shown to nobody who has one of them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { dropDatabase } from '../../../test/harness/database.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { addSeller, boot, GIB, login, RESELLERS, Seller } from './world.js';

test('a client whose subscription is that of another one is not assigned, and has no address of it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(async () => {
    await dropDatabase(folder);
    await rm(folder, { recursive: true, force: true });
  });
  const first = await boot(folder);
  const { inbound } = first;
  const before = await addSeller(first.panel, 'north', { inboundIds: [inbound] });
  const { id } = await before.add('ada', { inboundIds: [inbound], totalGB: GIB });
  const own = await before.client(id);
  t.true(own.subscription.length > 0);
  for (const email of ['grace', 'joan']) await first.panel.addClient(email, [inbound]);
  const { subId } = await first.panel.get<{ subId: string }>('/panel/api/clients/get/ada');
  const joan = await first.panel.get<{ subId: string }>('/panel/api/clients/get/joan');
  await first.panel.stop();
  await editDatabase(folder, [`UPDATE clients SET sub_id = '${subId}' WHERE email = 'grace'`]);

  const { panel } = await boot(folder);
  await using _ = panel;
  const north = new Seller(panel, await login(panel, 'north'), { id: before.id, admin: before.admin });
  const shown = await north.client(id);
  t.is(shown.subscription, '', 'it would show the links of grace');
  t.is(shown.links.length, 1);
  const assign = (emails: readonly string[]) =>
    panel.call(`${RESELLERS}/${north.id}/clients`, { body: { emails } });
  const refused = await assign(['joan', 'grace']);
  t.deepEqual([refused.status, refused.body.code], [409, 'RESELLERS_SHARED']);
  t.deepEqual(await north.emails(), ['ada'], 'all of them or none');
  t.is((await assign(['joan'])).status, 200);
  t.not(joan.subId, subId);
  t.deepEqual(await north.emails(), ['ada', 'joan']);
});
