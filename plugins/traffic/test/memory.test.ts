// Runs on every database in test:full.
// After any polls and deletions, the baselines in memory are those in the database, and every byte counts once.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { random } from '../../../test/harness/random.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { Baselines } from '../baselines.js';
import traffic from '../index.js';
import type { Poll } from '../poll.js';

interface Inside {
  readonly baselines: Baselines;
  readonly poll: Poll;
}

/** Without the order in which they came. */
const comparable = (baselines: ReadonlyMap<number, ReadonlyMap<number, object>>) =>
  [...baselines]
    .sort(([a], [b]) => a - b)
    .map(([id, readings]) => [id, [...readings].sort(([a], [b]) => a - b)]);

test('after thousands of random readings, edits and new cores, memory is what a fresh load gives', async (t) => {
  const observed = servicesOf<Inside>(traffic);
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({
    plugins: [observed.plugin, engine.plugin],
    clock: new FakeClock(),
  });
  const { baselines, poll } = observed.services;
  const { below, pick } = random(11);
  const inboundIds = [await panel.addInbound(), await panel.addInbound(), await panel.addInbound()];
  const post = (path: string, body?: object) =>
    panel.get(`/panel/api/clients/${path}`, { method: 'POST', ...(body && { body }) });

  let named = 0;
  const clients = new Map<string, number>();
  const add = async (): Promise<void> => {
    const email = `c${named++}`;
    clients.set(email, (await panel.addClient(email, inboundIds)).id);
  };
  const remove = (): string => {
    const email = pick([...clients.keys()]) ?? '';
    clients.delete(email);
    return email;
  };
  const edits: readonly (() => Promise<unknown>)[] = [
    add,
    add,
    () => post(`del/${remove()}`),
    () => post(`del/${remove()}?keepTraffic=1`),
    () => post('bulkDel', { emails: [remove(), remove()], keepTraffic: below(2) === 0 }),
    () => post('bulkDetach', { emails: [pick([...clients.keys()])], inboundIds: [pick(inboundIds)] }),
  ];
  const everybody: number[] = [];
  let moved = 0;
  let [round, replaced] = [0, 0];
  for (let i = 0; i < 12; i++) await add();
  for (; round < 120; round++) {
    for (const id of clients.values()) if (!everybody.includes(id)) everybody.push(id);
    // The core counts for deleted clients too.
    for (let i = 0; i < 25; i++) {
      const inboundId = pick(inboundIds) ?? 0;
      engine.move(inboundId, pick(everybody) ?? 0, below(50), below(500));
      moved++;
    }
    const edit = clients.size > 4 ? pick(edits) : add;
    await Promise.all([poll.run(), edit?.(), poll.run()]);
    if (below(15) === 0) engine.restart(`core ${replaced++}`);
    if (round % 10 === 0) {
      await poll.run();
      t.deepEqual(
        comparable(baselines.memory.state),
        comparable(await baselines.memory.fresh()),
        `round ${round}`,
      );
    }
  }
  await poll.run();
  t.deepEqual(comparable(baselines.memory.state), comparable(await baselines.memory.fresh()));
  t.true(moved >= 3000 && replaced > 3 && everybody.length > 40);
  t.deepEqual(
    [...baselines.memory.state.keys()].filter((id) => ![...clients.values()].includes(id)),
    [],
    'none of a client that is gone',
  );
});

test('each byte counts once while polls overlap, a client is deleted and the core is replaced', async (t) => {
  const observed = servicesOf<Inside>(traffic);
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({
    plugins: [observed.plugin, engine.plugin],
    clock: new FakeClock(),
  });
  const { poll } = observed.services;
  const { below } = random(12);
  const inboundId = await panel.addInbound();
  const { id } = await panel.addClient('stays', [inboundId]);
  const gone = await panel.addClient('goes', [inboundId]);
  const sums = { stays: 0, goes: 0 };
  const move = (): void => {
    const [a, b] = [below(500), below(500)];
    engine.move(inboundId, id, 0, a);
    engine.move(inboundId, gone.id, 0, b);
    sums.stays += a;
    sums.goes += b;
  };
  for (let i = 0; i < 20; i++) {
    move();
    await Promise.all([poll.run(), poll.run()]);
  }
  move();
  const deletion = panel.get('/panel/api/clients/del/goes?keepTraffic=1', { method: 'POST' });
  for (let i = 0; i < 20; i++) {
    move();
    await Promise.all([poll.run(), poll.run()]);
  }
  await deletion;
  for (let i = 0; i < 5; i++) {
    move();
    await poll.run();
  }
  await panel.addClient('goes', [inboundId]);
  move();
  await poll.run();
  // Its counters begin at zero, and are beyond the last reading all the same.
  engine.restart('next core');
  engine.move(inboundId, id, 0, 1_000_000);
  sums.stays += 1_000_000;
  await poll.run();
  const down = async (email: string) =>
    (await panel.get<{ down: number }>(`/panel/api/clients/traffic/${email}`)).down;
  t.deepEqual({ stays: await down('stays'), goes: await down('goes') }, sums);
});
