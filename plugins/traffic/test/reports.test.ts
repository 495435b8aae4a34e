// Reports of a client at its limit, and usage when a counter falls.
import test from 'ava';
import { type Database, definePlugin, type Plugin, tap } from '../../../kernel/index.js';
import { Baselines, type Reading } from '../baselines.js';
import type { ReadingJournal } from '../reading-journal.js';
import { clientDepleted } from '../contract.js';
import type { TrafficTables } from '../tables.js';
import { openWorld } from './world.js';

test('reports each inbound of a client at its quota to the core, and the client to other plugins', async (t) => {
  const heard: unknown[] = [];
  const listener: Plugin = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'Receives limits.',
    taps: () => [tap(clientDepleted, ({ clients }) => void heard.push(...clients))],
  });
  const { engine, panel, poll, inboundId } = await openWorld([listener]);
  await using _ = panel;
  const second = await panel.addInbound();
  const { id } = await panel.addClient('ann', [inboundId, second], { totalGB: 10 });
  engine.told.length = 0;
  engine.move(second, id, 4, 6);
  await poll();
  t.deepEqual(engine.told, [
    [
      { inboundId, clientId: id },
      { inboundId: second, clientId: id },
    ],
  ]);
  t.deepEqual(heard, [{ id, email: 'ann', cause: 'quota', inboundIds: [inboundId, second] }]);
});

test('when either counter fell in the same core, all of both counts', async (t) => {
  const last = { epoch: 'e', up: 10, down: 20 };
  const db = {
    projection: () => ({ state: new Map([[1, new Map([[2, last]])]]) }),
  } as unknown as Database;
  const baselines = new Baselines({
    db,
    tables: {} as TrafficTables,
    clients: { byId: () => undefined },
    journal: {} as ReadingJournal,
  });
  const moved = async (now: Partial<Reading>): Promise<unknown> => {
    const { epoch = 'e', up = 10, down = 20 } = now;
    const counters = { epoch, users: [{ clientId: 1, inboundId: 2, up, down }] };
    const [usage] = (await baselines.compare(counters, () => true)).usage;
    return usage && [usage.up, usage.down];
  };
  t.is(await moved({}), undefined);
  t.deepEqual(await moved({ down: 25 }), [0, 5]);
  t.deepEqual(await moved({ up: 11 }), [1, 0]);
  t.deepEqual(await moved({ up: 12, down: 3 }), [12, 3]);
  t.deepEqual(await moved({ up: 2, down: 30 }), [2, 30]);
  t.deepEqual(await moved({ epoch: 'next', up: 11, down: 21 }), [11, 21]);
});
