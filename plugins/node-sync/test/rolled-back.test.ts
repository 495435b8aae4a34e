// Writes that fail: a full disk, by triggers of SQLite.
import test from 'ava';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { FakeClock, until, weirCommand } from '../../../test/harness/index.js';
import { addSite, adoption, inboundOf } from './adoption-world.js';
import { FalseNode, toldEpoch } from './false-node.js';
import { downOf, inbounds, poll, SyncWorld } from './world.js';

test('a poll or a save that is rolled back makes the usage of a machine neither more nor less', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const { dataDirectory } = world.central;
  const [far, other] = [await FalseNode.start(t), await FalseNode.start(t, 'other-guid')];
  const told: unknown[] = [];
  other.replies.set('/elsewhere', (body) => {
    told.push(...(JSON.parse(body) as { users: unknown[] }).users);
    return { taken: 1, skipped: [] };
  });
  const ids: number[] = [];
  for (const [name, node] of [
    ['far', far],
    ['other', other],
  ] as const)
    ids.push(await world.central.panel.addInbound({ nodeId: await node.join(world.central.panel, name) }));
  const ann = await world.central.panel.addClient('ann', ids);
  const used = (node: FalseNode, inboundId: number | undefined, seq: number, down: number) =>
    (node.epochs = [toldEpoch('e', seq, [{ clientId: ann.id, inboundId: inboundId ?? 0, up: 0, down }])]);
  const report = () =>
    world.central.panel.call('/panel/api/system/jobs/node-sync/report', { method: 'POST' });
  const failing = async (write: string, work: () => Promise<unknown>) => {
    await editDatabase(dataDirectory, [
      `CREATE TRIGGER full_disk BEFORE ${write} BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
    ]);
    await work();
    await editDatabase(dataDirectory, ['DROP TRIGGER full_disk']);
  };
  used(far, ids[0], 1, 1_000);
  await failing('INSERT ON usage_by_day_journal', async () => {
    for (let i = 0; i < 2; i++) await poll(world.central.panel);
  });
  await poll(world.central.panel);
  t.is(await downOf(world.central.panel, 'ann'), 1_000);
  await failing('INSERT ON node_sync_usage', report);
  await report();
  await world.restart(world.central);
  told.length = 0;
  for (const { id } of await world.central.panel.get<{ id: number }[]>('/panel/api/nodes/list'))
    await world.online(id);
  used(other, ids[1], 1, 1);
  await poll(world.central.panel);
  await report();
  t.like(told.at(-1), { id: ann.id, down: 1_000 });
});

test('what was used on a node is in memory wherever it is loaded again, also before it is stored', async (t) => {
  const world = await SyncWorld.start(t, new FakeClock());
  const { panel, dataDirectory } = world.central;
  const far = await FalseNode.start(t);
  const inboundId = await panel.addInbound({ nodeId: await far.join(panel, 'far') });
  const { id: clientId } = await panel.addClient('ann', [inboundId]);
  far.epochs = [toldEpoch('e', 1, [{ clientId, inboundId, up: 0, down: 1_000 }])];
  await poll(panel);
  t.is(await downOf(panel, 'ann'), 1_000);
  const { said } = await weirCommand(dataDirectory, ['invariants']);
  t.regex(said, /memory is the database: ok/);
});

test('an inbound that is given back in two writes is given back, or is as it was', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel, dataDirectory } = world.central;
  const site = await world.site();
  for (const tag of ['one', 'two']) await site.panel.addInbound({ tag });
  const id = await addSite(panel, 'fra', site, {
    inboundSyncMode: 'selected',
    inboundTags: ['one', 'two'],
  });
  const adopted = async () => {
    const all = (await adoption(panel, id)).adopted.filter(({ isDone }) => isDone);
    return all.map(({ inboundId, tag }) => `${tag} ${inboundId}`).sort();
  };
  await until(async () => (await adopted()).length === 2, 'both are adopted');
  const before = await adopted();
  const release = async (tag: string, fails: string) => {
    await editDatabase(dataDirectory, [
      `CREATE TRIGGER full_disk BEFORE ${fails} BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
    ]);
    const body = { inboundIds: [(await inboundOf(panel, tag)).id] };
    const { status } = await panel.call(`/panel/api/x/node-sync/${id}/release`, { body });
    await editDatabase(dataDirectory, ['DROP TRIGGER full_disk']);
    await world.reconcile(id);
    return status;
  };
  t.is(await release('one', 'UPDATE ON nodes'), 500);
  t.deepEqual(await adopted(), before, 'as it was');
  t.is(await release('two', 'DELETE ON inbounds'), 500);
  await until(async () => (await adopted()).length === 1, 'it is given back');
  t.is((await inbounds(site.panel)).length, 2);
});

test('an epoch that is over is not acknowledged before its bytes are counted', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel, dataDirectory } = world.central;
  const far = await FalseNode.start(t);
  const nodeId = await far.join(panel, 'far');
  const inboundId = await panel.addInbound({ nodeId });
  const { id: clientId } = await panel.addClient('ann', [inboundId]);
  const acknowledged = async () => {
    await panel.call('/panel/api/system/jobs/node-sync/acknowledge', { method: 'POST' });
    return far.asked.some((path) => path.endsWith('/usage/ack'));
  };
  const of = (epoch: string, down: number, isCurrent: boolean) =>
    toldEpoch(epoch, 1, [{ clientId, inboundId, up: 0, down }], { isCurrent });
  far.epochs = [of('a', 100, true)];
  await poll(panel);
  await editDatabase(dataDirectory, [
    `CREATE TRIGGER full_disk BEFORE INSERT ON node_sync_positions BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
  ]);
  far.epochs = [of('a', 150, false), of('b', 7, true)];
  await poll(panel);
  t.is(await downOf(panel, 'ann'), 100);
  t.false(await acknowledged());
  await editDatabase(dataDirectory, ['DROP TRIGGER full_disk']);
  await poll(panel);
  t.is(await downOf(panel, 'ann'), 157);
  t.true(await acknowledged());
});
