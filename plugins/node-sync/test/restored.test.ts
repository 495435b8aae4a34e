// Panels that are restored from a copy of before, and go on without knowing what they did since.
import { cp, rm } from 'node:fs/promises';
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { client, emails, type Site, SyncWorld } from './world.js';

/** The panel of a site goes back to the copy that `keep` made. */
const keep = (world: SyncWorld, site: Site) =>
  world.restart(site, () => cp(site.dataDirectory, `${site.dataDirectory}.old`, { recursive: true }));
const goBack = (world: SyncWorld, site: Site) =>
  world.restart(site, async () => {
    await rm(site.dataDirectory, { recursive: true });
    await cp(`${site.dataDirectory}.old`, site.dataDirectory, { recursive: true });
  });

test('what a restored central changes while its node is away is no version that the node has already', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const id = await world.central.panel.addInbound({ nodeId: node.id });
  await world.central.panel.addClient('ann', [id]);
  await keep(world, world.central);
  await world.online(node.id);
  await world.central.panel.get('/panel/api/clients/update/ann', { body: { comment: 'lost' } });
  await world.central.panel.addClient('lost', [id]);
  t.deepEqual(await emails(node.panel), ['ann', 'lost']);
  await world.restart(node, async () => {
    await goBack(world, world.central);
    await world.offline(node.id);
    // One edit for each that is lost, and a client with an id that was given before.
    await world.central.panel.get('/panel/api/clients/update/ann', { body: { comment: 'kept' } });
    await world.central.panel.addClient('new', [id]);
  });
  await world.online(node.id);
  await until(async () => (await world.pending(node.id)) === 0, 'all is sent');
  await world.reconcile(node.id);
  t.deepEqual(await emails(node.panel), ['ann', 'new']);
  t.is((await client(node.panel, 'ann')).comment, 'kept');
  t.is((await client(node.panel, 'new')).uuid, (await client(world.central.panel, 'new')).uuid);
  t.deepEqual([...world.central.panel.faults, ...node.panel.faults], []);
});
