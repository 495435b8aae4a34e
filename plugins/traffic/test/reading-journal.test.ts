// Runs on every database.
// The readings of the last polls: where they are, and that none is lost on the way to the table of baselines.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { Baselines } from '../baselines.js';
import traffic from '../index.js';

interface Inside {
  readonly db: Database;
  readonly baselines: Baselines;
}

/** Without the order in which they came. */
const sorted = (state: ReadonlyMap<number, unknown>) => [...state].sort(([a], [b]) => a - b);

test('readings move to the baselines after a minute, and memory is what a fresh load gives at every poll', async (t) => {
  const observed = servicesOf<Inside>(traffic);
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [observed.plugin, engine.plugin], clock });
  const { db, baselines } = observed.services;
  const inboundIds = [await panel.addInbound(), await panel.addInbound()];
  const ids: number[] = [];
  for (const email of ['a', 'b', 'c']) ids.push((await panel.addClient(email, inboundIds)).id);
  const [first = 0, second = 0] = inboundIds;
  const [a = 0, b = 0, c = 0] = ids;
  const stored = async () => {
    const [readings] = await db.query<{ n: number }>('SELECT count(*) AS n FROM traffic_readings');
    const rows = await db.query<{ client_id: number; inbound_id: number; epoch: string; down: number }>(
      'SELECT client_id, inbound_id, epoch, down FROM traffic_baselines ORDER BY client_id, inbound_id',
    );
    return {
      readings: readings?.n,
      rows: rows.map((row) => [row.client_id, row.inbound_id, row.epoch, row.down]),
    };
  };
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
    t.deepEqual(sorted(baselines.memory.state), sorted(await baselines.memory.fresh()));
  };
  engine.move(second, b, 0, 7);
  engine.move(first, c, 0, 5);
  for (let i = 0; i < 6; i++) {
    engine.move(first, a, 1, 10);
    await poll();
  }
  t.deepEqual(await stored(), { readings: 6, rows: [] });
  await panel.get('/panel/api/clients/del/c', { method: 'POST' });
  t.deepEqual(
    sorted(baselines.memory.state),
    sorted(await baselines.memory.fresh()),
    'none of a client that is gone',
  );
  engine.restart('second');
  for (let i = 0; i < 6; i++) {
    engine.move(first, a, 1, 3);
    await poll();
  }
  const moved = [
    [a, first, 'second', 18],
    [b, second, 'first', 7],
  ];
  t.deepEqual(await stored(), { readings: 0, rows: moved });
  await poll();
  t.deepEqual(await stored(), { readings: 0, rows: moved }, 'nothing moved');
});
