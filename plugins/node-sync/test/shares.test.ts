// What nodes are told, and in what portions.
import test from 'ava';
import { AllSenders } from '../all-senders.js';
import { FakeClock } from '../../../test/harness/index.js';
import { DesiredRecords } from '../desired-records.js';
import { NodeNews } from '../node-news.js';
import { fitting, NodeSender } from '../node-sender.js';
import { FalseNode, toldEpoch } from './false-node.js';
import { emails, inbounds, poll, SyncWorld } from './world.js';

test('a change of thousands of users asks for their nodes once for each inbound', async (t) => {
  let asked = 0;
  const senders = new AllSenders({
    inbounds: { get: (id: number) => ({ id, nodeId: id }) },
    nodes: { get: () => void asked++ },
  } as never);
  const users = Array.from({ length: 5_000 }, (_, i) => ({ clientId: i + 1, inboundId: (i % 5) + 1 }));
  t.deepEqual(await senders.reconcileUsers(users), { pending: false, reason: '' });
  t.is(asked, 5);
});

test('a portion has room in a body of the node, and a record that has not goes alone', async (t) => {
  const record = (id: number, text: string, list: readonly number[] = []) => ({
    kind: 'client',
    id,
    version: 1,
    value: { text, list: [...list] },
  });
  const many = Array.from({ length: 500 }, (_, i) => record(i + 1, ''));
  t.is((await fitting(many)).length, 500);
  const lists = many.map(({ id }) =>
    record(
      id,
      '',
      Array.from({ length: 1_000 }, (_, i) => i),
    ),
  );
  t.is((await fitting(lists)).length, 148);
  const texts = many.map(({ id }) => record(id, 'x'.repeat(1_000_000)));
  t.is((await fitting(texts)).length, 8);
  t.is((await fitting([record(1, 'é'.repeat(9_000_000)), record(2, '')])).length, 1);
  t.deepEqual(await fitting([]), []);
});

test('a node that is away does not make others hear the same again; who comes from elsewhere is told at once', async (t) => {
  const world = await SyncWorld.start(t);
  const { panel } = world.central;
  const [far, mute] = [await FalseNode.start(t), await FalseNode.start(t, 'mute-guid')];
  const told: { id: number; up: number; down: number }[][] = [];
  far.replies.set('/elsewhere', (body) => {
    told.push((JSON.parse(body) as { users: { id: number; up: number; down: number }[] }).users);
    return { taken: 1, skipped: [] };
  });
  const [farId, muteId] = [await far.join(panel, 'far'), await mute.join(panel, 'mute')];
  const [one, two] = [await panel.addInbound({ nodeId: farId }), await panel.addInbound({ nodeId: muteId })];
  const ann = await panel.addClient('ann', [one, two]);
  const bob = await panel.addClient('bob', [two]);
  const report = () => panel.call('/panel/api/system/jobs/node-sync/report', { method: 'POST' });
  const used = (clientId: number, inboundId: number, down: number) => ({ clientId, inboundId, up: 0, down });
  mute.epochs = [toldEpoch('m', 1, [used(ann.id, two, 100), used(bob.id, two, 900)])];
  await poll(panel);
  mute.replies.set('/elsewhere', () => {
    throw new Error('it hangs up');
  });
  mute.replies.set('/server/status', () => 'nonsense');
  await world.offline(muteId);
  await report();
  t.like(told.at(-1), [{ id: ann.id, down: 100 }]);
  const before = told.length;
  await report();
  await report();
  t.is(told.length, before, 'nothing new');
  // bob moves: the other node has to know what he used before.
  await panel.get('/panel/api/clients/bob/attach', { body: { inboundIds: [one] } });
  await panel.get('/panel/api/clients/bob/detach', { body: { inboundIds: [two] } });
  far.epochs = [toldEpoch('f', 1, [used(bob.id, one, 5)])];
  await poll(panel);
  await report();
  t.like(told.at(-1), [{ id: bob.id, down: 900 }]);
  // What a node could not be told is told when it is back.
  far.epochs = [toldEpoch('f', 2, [used(ann.id, one, 50)])];
  await poll(panel);
  await report();
  let late: object[] = [];
  mute.replies.set('/elsewhere', (body) => {
    late = (JSON.parse(body) as { users: object[] }).users;
    return { taken: 1, skipped: [] };
  });
  mute.replies.delete('/server/status');
  await world.online(muteId);
  await report();
  t.like(late, [{ id: ann.id, down: 50 }]);
});

test('news that a node did not take are told again, and once', async (t) => {
  const calls: unknown[] = [];
  let fails = true;
  const call = async (_id: number, _path: string, { json }: { json: { seen: unknown } }) => {
    calls.push(json.seen);
    if (fails) throw new Error('it hangs up');
  };
  const news = new NodeNews<string>(
    { nodes: { call }, identity: { guid: 'own' }, log: { warn: () => undefined } } as never,
    {
      ...{ path: 'x', about: 'something', portion: 10 },
      changes: (after) => ({ seq: 3, more: false, items: after < 3 ? ['a', 'b'] : [] }),
      told: (_node, items) => items,
    },
  );
  const run = (guid = 'far') => news.run({ id: 1, guid, name: 'far' } as never);
  await run();
  fails = false;
  for (let i = 0; i < 2; i++) await run();
  t.deepEqual(calls, [
    ['a', 'b'],
    ['a', 'b'],
  ]);
  await run('another panel');
  t.is(calls.length, 3, 'it knows nothing yet');
});

test('what is marked while somebody looks, and is not committed yet, still waits after the look', async (t) => {
  let look = (_rows: readonly unknown[]): void => undefined;
  const records = new DesiredRecords({
    db: { query: () => new Promise((resolve) => (look = resolve)) },
    clock: new FakeClock(),
    adoptions: { held: [] },
  } as never);
  const sql = { rows: () => '', onConflict: () => '', incoming: () => '', greatest: '' };
  const tx = { sql, run: async () => undefined, emit: () => undefined };
  const first = records.pending(1, 10);
  await records.mark(tx as never, [{ nodeId: 1, kind: 'client', id: 1, isGone: false }]);
  look([]);
  await first;
  t.true(records.waiting(1).configDirty);
  t.deepEqual(records.dirty, [1]);
  const second = records.pending(1, 10);
  look([]);
  await second;
  t.false(records.waiting(1).configDirty);
});

test('a sender that is woken while it looks for the last time looks once more', async (t) => {
  let looks = 0;
  const sender: NodeSender = new NodeSender(1, {
    nodes: { get: () => ({ id: 1 }) },
    records: {
      pending: async () => {
        await Promise.resolve();
        looks += 1;
        if (looks === 1) void sender.wake();
        return [];
      },
    },
    signal: new AbortController().signal,
  } as never);
  await sender.wake();
  t.is(looks, 2);
});

test('inbounds that leave a node together leave no client behind', async (t) => {
  const world = await SyncWorld.start(t);
  const node = await world.node('fra');
  const { panel } = world.central;
  const ids = [await panel.addInbound({ nodeId: node.id }), await panel.addInbound({ nodeId: node.id })];
  await panel.addClient('ann', ids);
  t.deepEqual(await emails(node.panel), ['ann']);
  await panel.get('/panel/api/inbounds/bulkDel', { body: { ids } });
  t.deepEqual([await emails(node.panel), await inbounds(node.panel)], [[], []]);
  t.regex(
    String((await panel.call(`/panel/api/x/node-sync/${node.id}/reconcile`, { method: 'POST' })).body.msg),
    /nothing differs/,
  );
});
