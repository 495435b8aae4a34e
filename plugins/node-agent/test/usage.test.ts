// Runs on every database.
// What a central is told about usage.
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { definePlugin, Refusal, tap } from '../../../kernel/index.js';
import { editDatabase } from '../../../test/harness/edit-database.js';
import { duringClientSave } from '../../clients/contract.js';
import { CENTRAL, client, inbound, openManaged, openWorld, OTHER, wire } from './world.js';

const FILE = 'panel.node-epoch';
const STAYS = 'stays';
/** Refuses a deletion. */
const keeping = definePlugin({
  name: 'keeping',
  version: '1.0.0',
  api: 1,
  about: 'Keeps a client.',
  taps: () => [
    tap(duringClientSave, ({ changes }) => {
      if (changes.some(({ before, after }) => before?.email === STAYS && !after))
        throw new Refusal('it stays');
    }),
  ],
});
test('totals by the ids of the central: those that changed, never smaller, whatever is reset, renamed or deleted', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel, move, usage } = world;
  const [empty] = await usage();
  t.like(empty, { isCurrent: true, users: [], more: false });
  await move(1, 1, 10);
  await move(2, 2, 20);
  const [first] = await usage();
  t.deepEqual(first?.users, [
    { clientId: 1, inboundId: 7, up: 1, down: 10 },
    { clientId: 2, inboundId: 7, up: 2, down: 20 },
  ]);
  const { epoch = '', seq = 0 } = first ?? {};
  t.deepEqual((await usage(epoch, seq))[0]?.users, []);
  await panel.get('/panel/api/clients/resetTraffic/c1', { method: 'POST' });
  await move(1, 5, 5);
  t.deepEqual((await usage(epoch, seq))[0]?.users, [{ clientId: 1, inboundId: 7, up: 6, down: 15 }]);
  t.deepEqual((await usage(epoch, seq))[0]?.users.length, 1, 'asked again');
  await world.apply(client(2, 2, { email: 'other' }));
  await world.apply(client(1, 2, null));
  const all = (await usage())[0]?.users;
  t.deepEqual(
    all?.map(({ clientId, down }) => [clientId, down]),
    [
      [2, 20],
      [1, 15],
    ],
  );
});

test('the last bytes of a client that is deleted here are told: at its central it may live on', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const c1 = await world.client('c1');
  // Counted by the core alone: this panel was away.
  world.engine.move(c1.inboundIds[0] ?? 0, c1.id, 4, 40);
  await world.apply(client(1, 2, null));
  t.deepEqual((await world.usage())[0]?.users, [{ clientId: 1, inboundId: 7, up: 4, down: 40 }]);
});

test('a client or an inbound that goes and comes back before the central asks loses no byte', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await world.move(1, 3, 30);
  await world.apply(client(1, 2, null));
  await world.apply(client(1, 3));
  await world.move(1, 4, 40);
  await world.apply(inbound(7, 2, null), client(1, 4, null), client(2, 2, null));
  await world.apply(inbound(7, 3), client(1, 5));
  const { inboundIds, id } = await world.client('c1');
  world.engine.move(inboundIds[0] ?? 0, id, 5, 50);
  await world.poll();
  t.deepEqual((await world.usage())[0]?.users, [{ clientId: 1, inboundId: 7, up: 12, down: 120 }]);
});

test('a client that goes moves bytes until the core loses it, and these are told too; one that stays is served again', async (t) => {
  const world = await openManaged({ plugins: [keeping] });
  await using _ = world.panel;
  const { engine, panel } = world;
  const [c1, c2] = [await world.client('c1'), await world.client('c2')];
  const here = c1.inboundIds[0] ?? 0;
  const own = await panel.addInbound();
  await panel.get('/panel/api/clients/c2/attach', { body: { inboundIds: [own] } });
  const remove = engine.users.delete.bind(engine.users);
  engine.users.delete = (name) => {
    if (engine.users.has(name)) engine.move(here, name.endsWith(`c${c1.id}`) ? c1.id : c2.id, 0, 500);
    return remove(name);
  };
  await world.apply(client(1, 2, null), client(2, 2, null));
  await world.poll();
  t.deepEqual(
    (await world.usage())[0]?.users.map(({ clientId, down }) => [clientId, down]),
    [
      [1, 500],
      [2, 500],
    ],
  );
  t.deepEqual([...engine.users.keys()], [`i${own}.c${c2.id}`], 'it has an inbound of the admin');
  // One that cannot go is served again.
  await world.apply(client(3, 1, { email: STAYS, uuid: undefined, subId: 's3' }));
  const c3 = await world.client(STAYS);
  const [result] = await world.apply(client(3, 2, null));
  t.false(result?.ok);
  t.true(engine.users.has(`i${here}.c${c3.id}`));
});

test('clients and inbounds that the central does not manage are not told, nor those of another central', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  const { panel, engine, poll } = world;
  const own = await panel.addInbound();
  const { id } = await panel.addClient('mine', [own]);
  const c1 = await world.client('c1');
  await panel.get('/panel/api/clients/c1/attach', { body: { inboundIds: [own] } });
  engine.move(own, id, 100, 100);
  engine.move(own, c1.id, 7, 7);
  engine.move(c1.inboundIds[0] ?? 0, c1.id, 1, 1);
  const other = wire(panel, OTHER);
  await other.apply(
    inbound(7, 1, { tag: 'theirs' }),
    client(1, 1, { email: 'theirs', uuid: undefined, subId: 'x' }),
  );
  await poll();
  t.deepEqual((await world.usage())[0]?.users, [{ clientId: 1, inboundId: 7, up: 1, down: 1 }]);
  t.deepEqual((await other.usage())[0]?.users, []);
  const answer = await panel.call('/panel/api/x/node/usage?central=nobody');
  t.is(answer.status, 404);
});

test('a database that was restored begins a new epoch, and nothing is told twice', async (t) => {
  const world = await openManaged();
  const { dataDirectory, panel } = world;
  await world.move(1, 0, 100);
  const [first] = await world.usage();
  // An older copy: its totals, its seq and the baselines of the poll are those of before.
  await world.move(1, 0, 11);
  const [last] = await world.usage(first?.epoch, first?.seq);
  t.deepEqual(
    last?.users.map(({ down }) => down),
    [111],
  );
  await panel.stop();
  await editDatabase(dataDirectory, [
    `UPDATE node_agent_usage SET down = 100, seq = ${first?.seq}`,
    `UPDATE node_agent_epochs SET seq = ${first?.seq}`,
    'UPDATE client_usage SET down = 100',
  ]);
  const next = await openWorld({ dataDirectory });
  await using _ = next.panel;
  const { id, inboundIds } = await next.client('c1');
  // The core runs on: its counter has what was told before.
  next.engine.move(inboundIds[0] ?? 0, id, 0, 115);
  await next.poll();
  const restored = await next.usage(first?.epoch, last?.seq);
  const [old, current] = [
    restored.find(({ isCurrent }) => !isCurrent),
    restored.find(({ isCurrent }) => isCurrent),
  ];
  t.is(old, undefined, 'the central has more of it');
  t.not(current?.epoch, first?.epoch);
  t.deepEqual(current?.users, [], 'the first poll has bytes that were told');
  next.engine.move(inboundIds[0] ?? 0, id, 0, 7);
  await next.poll();
  t.deepEqual(
    (await next.usage(current?.epoch, 0)).find(({ isCurrent }) => isCurrent)?.users.map(({ down }) => down),
    [7],
  );
});

test('an epoch that is over is told until it is acknowledged', async (t) => {
  const world = await openManaged();
  const { dataDirectory } = world;
  await world.move(1, 0, 100);
  const [first] = await world.usage();
  await world.move(1, 0, 11);
  await world.panel.stop();
  await rm(join(dataDirectory, FILE));
  const next = await openWorld({ dataDirectory });
  await using _ = next.panel;
  const [old, current] = await next.usage(first?.epoch, first?.seq);
  t.deepEqual([old?.epoch, old?.isCurrent, current?.isCurrent], [first?.epoch, false, true]);
  t.deepEqual(old?.users, [{ clientId: 1, inboundId: 7, up: 0, down: 111 }]);
  t.is((await next.usage(current?.epoch, 0)).length, 2, 'again, to a central that has lost it');
  await next.ack(old?.epoch ?? '', (old?.seq ?? 0) - 1);
  t.is((await next.usage()).length, 2, 'not all is taken');
  await next.ack(old?.epoch ?? '', old?.seq ?? 0);
  t.deepEqual(
    (await next.usage()).map(({ epoch }) => epoch),
    [current?.epoch],
  );
  t.is(
    (
      await next.panel.call('/panel/api/x/node/usage/ack', {
        body: { central: CENTRAL, epoch: old?.epoch, seq: 1 },
      })
    ).status,
    404,
  );
});

test('a restart goes on with the epoch; a copy of the folder and a central that knows more do not', async (t) => {
  const world = await openManaged();
  const { dataDirectory } = world;
  await world.move(1, 0, 100);
  const [first] = await world.usage();
  await world.panel.stop();
  const next = await openWorld({ dataDirectory });
  t.is((await next.usage(first?.epoch, first?.seq))[0]?.epoch, first?.epoch);
  await next.panel.stop();
  const path = join(dataDirectory, FILE);
  const text = await readFile(path);
  await writeFile(`${path}.copy`, text);
  await rename(`${path}.copy`, path);
  const copied = await openWorld({ dataDirectory });
  await using _ = copied.panel;
  const [old, current] = await copied.usage(first?.epoch, 0);
  t.deepEqual([old?.epoch, old?.isCurrent], [first?.epoch, false]);
  await copied.ack(first?.epoch ?? '', old?.seq ?? 0);
  const beyond = await copied.usage(current?.epoch, 1000);
  t.not(beyond.at(-1)?.epoch, current?.epoch);
  t.deepEqual(beyond.at(-1)?.users, []);
});

test('a central that acknowledges more than there is still gets what comes later, also of a client that it deleted', async (t) => {
  const world = await openManaged();
  await using _ = world.panel;
  await world.move(1, 0, 100);
  const [first] = await world.usage();
  const { epoch = '', seq = 0 } = first ?? {};
  await world.ack(epoch, 9e15);
  await world.move(1, 0, 11);
  await world.apply(client(1, 2, null));
  world.clock.jump(2 * 86_400_000);
  await world.panel.login();
  await world.panel.call('/panel/api/system/jobs/node-agent/prune', { method: 'POST' });
  const [last] = await world.usage(epoch, seq);
  t.deepEqual(last?.users, [{ clientId: 1, inboundId: 7, up: 0, down: 111 }]);
  // When it has taken them, they go.
  await world.ack(epoch, last?.seq ?? 0);
  await world.panel.call('/panel/api/system/jobs/node-agent/prune', { method: 'POST' });
  t.deepEqual((await world.usage(epoch, seq))[0]?.users, []);
});
