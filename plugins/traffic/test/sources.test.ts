// Runs on every database in test:full.
// Counters beside the core's: each byte once, whatever crashes, restarts or lies.
import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { invariants } from '../../../test/harness/invariants.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import { kernelErrors } from '../../../kernel/index.js';
import traffic from '../index.js';
import type { StreamBaselines } from '../stream-baselines.js';
import { type CounterReading, CounterSources, Counting, type CountingApi } from '../contract.js';

type Users = readonly [clientId: number, up: number, down: number][];

async function openSources(dataDirectory?: string, engine = new FakeEngine(), clock = new FakeClock()) {
  let readings: readonly CounterReading[] = [];
  let counting: CountingApi | undefined;
  const checks = invariants();
  const inside = servicesOf<{ streamBaselines: StreamBaselines }>(traffic);
  const plugin = definePlugin({
    name: 'sources-for-tests',
    version: '0.0.0',
    api: 1,
    about: 'Counts for tests.',
    uses: { counting: Counting },
    contributes: () => [contribute(CounterSources, { name: 'test', read: async () => readings })],
    start: (context) => void (counting = context.counting),
  });
  const panel = await TestPanel.boot({
    plugins: [engine.plugin, plugin, inside.plugin, checks.plugin],
    clock,
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  const inboundId = dataDirectory === undefined ? await panel.addInbound() : 1;
  const { streamBaselines } = inside.services;
  const { save } = streamBaselines;
  const reading = (epoch: string, users: Users, more: Partial<CounterReading> = {}): CounterReading => ({
    stream: 'a',
    epoch,
    users: users.map(([clientId, up, down]) => ({ clientId, inboundId, up, down })),
    ...more,
  });
  return {
    panel,
    engine,
    clock,
    inboundId,
    reading,
    streamBaselines,
    /** In the middle of the transaction of a poll, as a full disk does. */
    fail: () => void (streamBaselines.save = () => Promise.reject(kernelErrors.STORAGE())),
    work: () => void (streamBaselines.save = save),
    broken: () => checks.broken(),
    counting: () => counting as CountingApi,
    says: (...next: readonly CounterReading[]) => void (readings = next),
    poll: async (): Promise<void> => {
      clock.tick(5000);
      await panel.kernel.settled();
    },
    usage: (email: string) =>
      panel.get<{ up: number; down: number; enable: boolean }>(`/panel/api/clients/traffic/${email}`),
  };
}

test('another process whose counters stand where those of the last one stood counts from zero', async (t) => {
  const first = await openSources();
  await using _ = first.panel;
  const { id } = await first.panel.addClient('ann', [first.inboundId]);
  for (const epoch of ['one', 'two', 'two', 'three']) {
    first.says(first.reading(epoch, [[id, 10, 20]]));
    await first.poll();
  }
  t.like(await first.usage('ann'), { up: 30, down: 60 });
});

test('the difference to the last reading counts, of each epoch from zero, also after a restart of the panel', async (t) => {
  const first = await openSources();
  const { id } = await first.panel.addClient('ann', [first.inboundId]);
  first.says(first.reading('one', [[id, 10, 20]]));
  await first.poll();
  await first.poll();
  t.like(await first.usage('ann'), { up: 10, down: 20 });
  first.says(first.reading('one', [[id, 15, 20]]));
  await first.poll();
  await first.panel.stop();
  const second = await openSources(first.panel.dataDirectory, first.engine, first.clock);
  await using _ = second.panel;
  second.says(second.reading('one', [[id, 16, 21]]));
  await second.poll();
  t.like(await second.usage('ann'), { up: 16, down: 21 });
  second.says(second.reading('two', [[id, 3, 4]]));
  await second.poll();
  await second.poll();
  t.like(await second.usage('ann'), { up: 19, down: 25 });
  t.deepEqual(await second.broken(), []);
});

test('core and sources count the same client in one poll; without a core, sources are counted all the same', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId], { totalGB: 1000 });
  world.engine.move(world.inboundId, id, 100, 100);
  world.says(world.reading('one', [[id, 200, 200]]));
  await world.poll();
  t.like(await world.usage('ann'), { up: 300, down: 300, enable: true });
  world.engine.enter('stop');
  world.says(world.reading('one', [[id, 500, 300]]));
  await world.poll();
  t.like(await world.usage('ann'), { up: 600, down: 400, enable: false });
  t.deepEqual(world.engine.told.at(-1), [{ inboundId: world.inboundId, clientId: id }]);
});

test('who moves bytes through a source is online without a core, and not for longer than others', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  const online = () => world.panel.get('/panel/api/clients/onlines', { method: 'POST' });
  world.engine.enter('stop');
  await world.panel.kernel.settled();
  world.says(world.reading('one', [[id, 1, 1]]));
  await world.poll();
  t.deepEqual(await online(), ['ann']);
  world.engine.enter('running');
  world.engine.enter('stop');
  await world.panel.kernel.settled();
  t.deepEqual(await online(), ['ann'], 'a core that stops closes its own connections alone');
  for (let i = 0; i < 4; i++) await world.poll();
  t.deepEqual(await online(), []);
});

test('a counter that is missing in a complete reading begins at zero when it comes back', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id: ann } = await world.panel.addClient('ann', [world.inboundId]);
  const { id: bob } = await world.panel.addClient('bob', [world.inboundId]);
  const complete = { isComplete: true };
  world.says(
    world.reading(
      'one',
      [
        [ann, 0, 500],
        [bob, 0, 500],
      ],
      complete,
    ),
  );
  await world.poll();
  world.says(world.reading('one', [[bob, 0, 500]], complete));
  await world.poll();
  world.says(
    world.reading(
      'one',
      [
        [ann, 0, 600],
        [bob, 0, 600],
      ],
      complete,
    ),
  );
  await world.poll();
  t.like(await world.usage('ann'), { down: 1100 });
  t.like(await world.usage('bob'), { down: 600 });
  world.says(world.reading('one', [[ann, 0, 600]]));
  await world.poll();
  world.says(
    world.reading('one', [
      [ann, 0, 600],
      [bob, 0, 600],
    ]),
  );
  await world.poll();
  t.like(await world.usage('bob'), { down: 600 }, 'a reading that is not complete says nothing about others');
});

test('a last reading counts before those of the next process, and one after the other', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  world.says(world.reading('one', [[id, 0, 100]]));
  await world.poll();
  world.says(world.reading('two', [[id, 0, 7]]));
  await Promise.all([
    world.counting().last('test', [world.reading('one', [[id, 0, 150]])]),
    world.counting().count(),
  ]);
  await world.poll();
  t.like(await world.usage('ann'), { down: 157 });
});

test('what moved more than it can is counted as far as it can, and named', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  world.says(world.reading('one', [[id, 3000, 1000]], { most: 400 }));
  await world.poll();
  t.like(await world.usage('ann'), { up: 300, down: 100 });
  world.says(world.reading('one', [[id, 3001, 1002]], { most: 400 }));
  await world.poll();
  t.like(await world.usage('ann'), { up: 301, down: 102 }, 'the jump is over');
  t.truthy(world.panel.log.find((line) => line.includes('more bytes than can have moved')));
});

test('a reading that is not as declared is a fault of its plugin, and counts nothing', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  for (const bad of [
    world.reading('', [[id, 1, 1]]),
    world.reading('one', [[id, -1, 1]]),
    world.reading('one', [[id, 1.5, 1]]),
    world.reading('one', [[id, 2 ** 60, 1]]),
    world.reading('x'.repeat(129), [[id, 1, 1]]),
    { ...world.reading('one', []), stream: 'x'.repeat(65) },
    { ...world.reading('one', []), users: 'many' as never },
  ]) {
    world.says(bad);
    await world.poll();
  }
  t.like(await world.usage('ann'), { up: 0, down: 0 });
  t.is(world.panel.faults.length, 7);
  await t.throwsAsync(world.counting().last('test', [world.reading('one', [[id, -1, 0]])]), {
    message: /-1 and 0 bytes/,
  });
});

test('a deleted client is not counted any more, and its rows go', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  world.says(world.reading('one', [[id, 5, 5]]));
  await world.poll();
  await world.panel.get('/panel/api/clients/del/ann', { body: {} });
  world.says(world.reading('one', [[id, 50, 50]]));
  await world.poll();
  const next = await world.panel.addClient('ann', [world.inboundId]);
  await world.poll();
  t.not(next.id, id);
  t.like(await world.usage('ann'), { up: 0, down: 0 });
  t.deepEqual(await world.broken(), []);
});

test('while the database fails, the bytes of every process that ends are held, and limits act at once', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId], { totalGB: 1000 });
  world.says(world.reading('one', [[id, 0, 100]]));
  await world.poll();
  world.fail();
  world.says(world.reading('one', [[id, 0, 300]]));
  await world.poll();
  world.says(world.reading('two', [[id, 0, 50]]));
  await world.poll();
  await world.counting().last('test', [world.reading('two', [[id, 0, 60]])]);
  world.says(world.reading('three', [[id, 0, 700]]));
  await world.poll();
  t.like(await world.usage('ann'), { down: 100, enable: true }, 'nothing is written');
  t.deepEqual(world.engine.told.at(-1), [{ inboundId: world.inboundId, clientId: id }]);
  t.false(world.engine.users.has(`i${world.inboundId}.c${id}`), 'the core has lost its user');
  world.work();
  await world.poll();
  await world.poll();
  t.like(await world.usage('ann'), { down: 300 + 60 + 700, enable: false });
  t.false(world.streamBaselines.hasUnsaved, 'nothing is held any more');
});

test('bytes whose commit went through although its answer was lost do not count again', async (t) => {
  const world = await openSources();
  await using _ = world.panel;
  const { id } = await world.panel.addClient('ann', [world.inboundId]);
  const [one, two] = [world.reading('one', [[id, 0, 300]]), world.reading('two', [[id, 0, 50]])];
  world.says(one);
  await world.poll();
  world.says(two);
  await world.poll();
  const named = (reading: CounterReading) => ({ ...reading, stream: 'test/a' });
  world.streamBaselines.notSaved([named(one)]);
  world.streamBaselines.notSaved([named(two)]);
  world.says(world.reading('two', [[id, 0, 60]]));
  await world.poll();
  t.like(await world.usage('ann'), { down: 360 });
});
