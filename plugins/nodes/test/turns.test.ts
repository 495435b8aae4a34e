// What concerns many nodes, or all clients, goes in portions: other work has its turn between them.
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { Figures } from '../figures.js';
import { KeptCounts } from '../kept-counts.js';
import { Heartbeat } from '../status/heartbeat.js';

const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

test('calls of a round begin one after the other, and not in one turn of the event loop', async (t) => {
  const nodes = ids(20).map((id) => ({ id, enable: true }));
  let begun = 0;
  const heartbeat = new Heartbeat({
    store: { list: () => nodes, target: (node: unknown) => node, find: (id: number) => nodes[id - 1] },
    prober: {
      beat: async () => {
        begun += 1;
        return { ok: false, error: 'away' };
      },
    },
    states: { heard: () => ({ flip: undefined, isTurn: false }), of: () => ({ status: 'unknown' }) },
    live: { beaten: () => undefined },
    clock: new FakeClock(1),
    settings: { read: () => ({ nodeDownThreshold: 3 }) },
  } as never);
  const round = heartbeat.run(new AbortController().signal);
  let most = begun;
  for (let before = begun; begun < nodes.length; before = begun) {
    await turn();
    most = Math.max(most, begun - before);
  }
  await round;
  t.true(most <= 2, `${most} in one turn`);
});

test('a list of nodes looks at all clients once, however many nodes there are', async (t) => {
  const inbounds = ids(30).map((id) => ({ id, nodeId: id }));
  const lists = inbounds.map(({ id }) => [id]);
  const rows = ids(3_000).map((id) => ({
    inboundIds: id % 100 === 0 ? [1, 2] : (lists[id % 30] ?? []),
    enable: id % 3 > 0,
    depletedCause: id % 5 === 0 ? 'quota' : null,
  }));
  let passes = 0;
  const figures = new Figures({
    contributions: () => [],
    inbounds: {
      list: () => inbounds,
      get: (id: number) => inbounds[id - 1],
      placeOf: ({ nodeId }: { nodeId: number }) => ({ guid: `guid-${nodeId}` }),
    },
    clients: {
      all: () => {
        passes += 1;
        return rows;
      },
    },
    keptCounts: new KeptCounts({ clock: new FakeClock(1) }),
  } as never);
  const of = (id: number) => figures.of({ id, guid: `guid-${id}` } as never);
  const counts = inbounds.map(({ id }) => of(id));
  t.is(passes, 1);
  const there = (id: number) => rows.filter(({ inboundIds }) => inboundIds.includes(id));
  for (const [i, { clientCount, activeCount, depletedCount, disabledCount }] of counts.entries()) {
    const own = there(i + 1);
    const active = own.filter(({ enable, depletedCause }) => depletedCause === null && enable).length;
    const depleted = own.filter(({ depletedCause }) => depletedCause !== null).length;
    const all = [own.length, active, depleted, own.length - active - depleted];
    t.deepEqual([clientCount, activeCount, depletedCount, disabledCount], all);
  }
  await turn();
  rows.push({ inboundIds: [31], enable: true, depletedCause: null });
  inbounds.push({ id: 31, nodeId: 31 });
  t.is(of(31).clientCount, 1, 'nothing is kept beyond the list');
});
