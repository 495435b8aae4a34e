// Runs on every database in test:full.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { duringClientSave } from '../../clients/contract.js';
import type { Baselines } from '../baselines.js';
import traffic from '../index.js';
import { openWorld } from './world.js';

const used = async (panel: TestPanel, email: string): Promise<[number, number]> => {
  const { up, down } = await panel.get<{ up: number; down: number }>(`/panel/api/clients/traffic/${email}`);
  return [up, down];
};

test('bytes since the last poll are kept, and so are those of open connections after the deletion', async (t) => {
  const { engine, panel, poll, inboundId } = await openWorld();
  await using _ = panel;
  const first = await panel.addClient('a', [inboundId]);
  const plain = await panel.addClient('b', [inboundId]);
  engine.move(inboundId, first.id, 10, 1000);
  await poll();
  engine.move(inboundId, first.id, 1, 200);
  engine.move(inboundId, plain.id, 0, 5000);
  await panel.get('/panel/api/clients/del/a?keepTraffic=1', { method: 'POST' });
  await panel.get('/panel/api/clients/del/b', { method: 'POST' });

  // Connections that could not be closed.
  engine.move(inboundId, first.id, 2, 30);
  engine.move(inboundId, plain.id, 0, 7000);
  await poll();
  await poll();
  const second = await panel.addClient('A', [inboundId]);
  t.deepEqual(await used(panel, 'A'), [13, 1230]);
  t.not(second.id, first.id);
  engine.move(inboundId, first.id, 0, 4);
  engine.move(inboundId, second.id, 0, 100);
  await poll();
  t.deepEqual(await used(panel, 'A'), [13, 1334]);

  await panel.addClient('b', [inboundId]);
  t.deepEqual(await used(panel, 'b'), [0, 0], 'nothing was kept');
  const { down } = await panel.get<{ down: number }>(`/panel/api/inbounds/get/${inboundId}`);
  t.is(down, 6334);

  // A new core has no counters of deleted clients.
  engine.restart('second');
  engine.move(inboundId, first.id, 0, 50_000);
  await poll();
  t.deepEqual(await used(panel, 'A'), [13, 1334]);
});

test('a bulk deletion with traffic kept loses no bytes', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], clock: new FakeClock() });
  const inboundId = await panel.addInbound();
  const { id } = await panel.addClient('a', [inboundId]);
  engine.move(inboundId, id, 0, 300);
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: ['a'], keepTraffic: true } });
  await panel.addClient('a', [inboundId]);
  t.deepEqual(await used(panel, 'a'), [0, 300]);
});

test('bytes count once when the readings are loaded again at the very commit that deletes their client', async (t) => {
  const inside = servicesOf<{ baselines: Baselines }>(traffic);
  let reloads = false;
  const reloader = definePlugin({
    name: 'reloader',
    version: '1.0.0',
    api: 1,
    about: 'Loads the readings again inside the write that deletes a client.',
    taps: () => [
      tap(duringClientSave, () => {
        if (reloads) void inside.services.baselines.memory.load();
      }),
    ],
  });
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [inside.plugin, engine.plugin, reloader], clock });
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  const inboundId = await panel.addInbound();
  const { id } = await panel.addClient('a', [inboundId]);
  const late = await panel.addClient('b', [inboundId]);
  engine.move(inboundId, id, 10, 1000);
  await poll();
  reloads = true;
  await panel.get('/panel/api/clients/bulkDel', { body: { emails: ['a', 'b'], keepTraffic: true } });
  reloads = false;
  engine.move(inboundId, id, 1, 30);
  // Its first bytes come after its deletion.
  engine.move(inboundId, late.id, 0, 7);
  await poll();
  engine.move(inboundId, id, 0, 4);
  await poll();
  const { memory } = inside.services.baselines;
  t.deepEqual([...memory.state.keys()], [], 'none of a client that is gone');
  t.deepEqual(memory.state, await memory.fresh());
  for (const email of ['a', 'b']) await panel.addClient(email, [inboundId]);
  t.deepEqual(await used(panel, 'a'), [11, 1034]);
  t.deepEqual(await used(panel, 'b'), [0, 7]);
});
