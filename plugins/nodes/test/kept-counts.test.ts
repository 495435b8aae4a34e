// The counts of a node with many clients: kept, and right.
import test from 'ava';
import { until } from '../../../test/harness/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import type { ClientChange } from '../../clients/contract.js';
import { KeptCounts } from '../kept-counts.js';
import { boot, local, NODES, portOf, tokenOf } from './world.js';

const MANY = 60;

test('counts are taken again for inbounds whose clients changed, and for no others', (t) => {
  const clock = new FakeClock(1_000_000);
  const kept = new KeptCounts({ clock });
  let counted = 0;
  const ask = (clientCount: number, ...ids: readonly number[]) =>
    kept.of(ids, () => {
      counted += 1;
      return { clientCount, activeCount: clientCount, depletedCount: 0, disabledCount: 0 };
    });
  const change = (before: readonly number[], after: readonly number[]) =>
    kept.changed([
      { before: { inboundIds: before }, after: { inboundIds: after } },
    ] as never as ClientChange[]);
  for (let i = 0; i < 3; i++) ask(1000, 1, 21);
  t.is(counted, 1);
  change([2], [12]);
  ask(1000, 1, 21);
  t.is(counted, 1, 'other inbounds');
  change([21], []);
  ask(1000, 1, 21);
  t.is(counted, 2, 'a client was taken off');
  change([], [1]);
  ask(1000, 1, 21);
  t.is(counted, 3, 'a client came');
  kept.clear();
  ask(1000, 1, 21);
  t.is(counted, 4);
  clock.tick(30_000);
  ask(1000, 1, 21);
  t.is(counted, 5, 'after half a minute');
  for (let i = 0; i < 3; i++) ask(10, 5);
  t.is(counted, 8, 'a few are counted each time');
});

test('the figures of a node with many clients follow edits at once, and quotas', async (t) => {
  const [{ panel: central }, { panel: node }] = [await boot(t), await boot(t)];
  await central.get(`${NODES}/add`, { body: local(portOf(node), await tokenOf(node), { name: 'far' }) });
  const [{ id = 0 } = {}] = await central.get<{ id: number }[]>(`${NODES}/list`);
  const inboundId = await central.addInbound({ nodeId: id });
  const body = Array.from({ length: MANY }, (_, i) => ({
    client: { email: `c${i}` },
    inboundIds: [inboundId],
  }));
  await central.get('/panel/api/clients/bulkCreate', { body });
  const figures = async () => {
    const shown = await central.get<Record<string, number>>(`${NODES}/get/${id}`);
    return [shown['clientCount'], shown['activeCount'], shown['disabledCount'], shown['depletedCount']];
  };
  t.deepEqual(await figures(), [MANY, MANY, 0, 0]);
  await central.get('/panel/api/clients/update/c1', { body: { enable: false } });
  await central.get('/panel/api/clients/del/c2', { body: {} });
  t.deepEqual(await figures(), [MANY - 1, MANY - 2, 1, 0]);
  await central.get('/panel/api/clients/update/c3', { body: { expiryTime: 1_000 } });
  await until(async () => (await figures())[3] === 1, 'the client is depleted');
  t.deepEqual(await figures(), [MANY - 1, MANY - 3, 1, 1]);
});
