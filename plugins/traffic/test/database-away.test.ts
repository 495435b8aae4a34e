// The database fails for some polls: bytes count once, limits act at once, and the core may end meanwhile.
import test from 'ava';
import { definePlugin, kernelErrors, type Plugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { servicesOf } from '../../../test/harness/services-of.js';
import type { Baselines } from '../baselines.js';
import type { ClientWatch } from '../client-watch.js';
import { depletionCandidates } from '../contract.js';
import traffic from '../index.js';
import { UnsavedReadings } from '../unsaved-readings.js';

async function open(others: readonly Plugin[] = []) {
  const inside = servicesOf<{ baselines: Baselines; clientWatch: ClientWatch }>(traffic);
  const engine = new FakeEngine();
  const clock = new FakeClock();
  const panel = await TestPanel.boot({ plugins: [inside.plugin, engine.plugin, ...others], clock });
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  const { baselines, clientWatch } = inside.services;
  const { save } = baselines;
  return {
    panel,
    engine,
    clock,
    poll,
    baselines,
    clientWatch,
    /** In the middle of the transaction of a poll, as a full disk does. */
    fail: () => void (baselines.save = () => Promise.reject(kernelErrors.STORAGE())),
    work: () => void (baselines.save = save),
    inboundId: await panel.addInbound(),
    used: async (email: string): Promise<readonly [number, number, boolean]> => {
      const { up, down, enable } = await panel.get<{ up: number; down: number; enable: boolean }>(
        `/panel/api/clients/traffic/${email}`,
      );
      return [up, down, enable];
    },
  };
}

test('counts the bytes of every core that ended meanwhile, each once', async (t) => {
  const { panel, engine, poll, fail, work, inboundId, used } = await open();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  const quiet = await panel.addClient('bob', [inboundId]);
  engine.move(inboundId, id, 1, 100);
  engine.move(inboundId, quiet.id, 1, 100);
  await poll();
  fail();
  engine.move(inboundId, id, 2, 200);
  engine.move(inboundId, quiet.id, 2, 200);
  await poll();
  // The first core ends with a last reading, the second one without.
  engine.move(inboundId, id, 4, 400);
  await engine.replace('second');
  engine.move(inboundId, id, 8, 800);
  await poll();
  await poll();
  engine.restart('third');
  engine.move(inboundId, id, 16, 1600);
  await poll();
  t.deepEqual(await used('ann'), [1, 100, true]);
  work();
  await poll();
  t.deepEqual(await used('ann'), [31, 3100, true]);
  t.deepEqual(await used('bob'), [3, 300, true]);
  await poll();
  engine.move(inboundId, quiet.id, 4, 400);
  await poll();
  t.deepEqual(await used('ann'), [31, 3100, true]);
  t.deepEqual(await used('bob'), [7, 700, true]);
  t.deepEqual(panel.faults, []);
});

test('counts nothing twice when the database has the bytes and its answer was lost', async (t) => {
  const { panel, engine, poll, fail, work, inboundId, used, baselines } = await open();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  fail();
  engine.move(inboundId, id, 1, 100);
  await poll();
  engine.restart('second');
  work();
  const { saved } = baselines;
  baselines.saved = () => {
    throw kernelErrors.DATABASE_AWAY();
  };
  await poll();
  baselines.saved = saved;
  t.deepEqual(await used('ann'), [1, 100, true]);
  engine.move(inboundId, id, 2, 200);
  await poll();
  t.deepEqual(await used('ann'), [3, 300, true]);
});

test('the core loses users at a limit at once and keeps those that renew; rows follow', async (t) => {
  const { panel, engine, clock, poll, fail, work, inboundId, used } = await open();
  await using _ = panel;
  const small = await panel.addInbound({ total: 1000 });
  const expiryTime = clock.now() + 12_000;
  const ids: Record<string, number> = {};
  const add = async (email: string, fields: Record<string, unknown>, on = inboundId): Promise<void> => {
    ids[email] = (await panel.addClient(email, [on], fields)).id;
  };
  await add('free', {});
  await add('quota', { totalGB: 1000 });
  await add('ends', { expiryTime });
  await add('renews', { expiryTime, reset: 30 });
  await add('inbound', {}, small);
  const has = (email: string): boolean =>
    engine.users.has(`i${email === 'inbound' ? small : inboundId}.c${ids[email]}`);
  const present = (): string[] => Object.keys(ids).filter(has);
  fail();
  for (let i = 0; i < 4; i++) {
    for (const email of Object.keys(ids))
      engine.move(email === 'inbound' ? small : inboundId, ids[email] ?? 0, 0, 300);
    await poll();
    if (i === 0) t.deepEqual(present(), Object.keys(ids));
  }
  t.deepEqual(present(), ['free', 'renews']);
  t.deepEqual(await used('quota'), [0, 0, true]);
  work();
  await poll();
  t.deepEqual(present(), ['free', 'renews', 'inbound']);
  t.deepEqual(await used('quota'), [0, 1200, false]);
  t.false((await used('ends'))[2]);
  t.deepEqual(await used('inbound'), [0, 1200, true]);
  t.false((await panel.get<{ enable: boolean }>(`/panel/api/inbounds/get/${small}`)).enable);
  await panel.get('/panel/api/clients/resetTraffic/quota', { method: 'POST' });
  t.true(has('quota'));
});

test('a client at its limit stays out while the core does not answer', async (t) => {
  const { panel, engine, poll, fail, work, inboundId } = await open();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId], { totalGB: 1000 });
  fail();
  engine.move(inboundId, id, 0, 1200);
  await poll();
  t.is(engine.users.size, 0);
  engine.running = false;
  await poll();
  t.is(engine.users.size, 0);
  // The next core starts with the users of this moment.
  engine.restart('second');
  engine.running = true;
  await poll();
  t.is(engine.users.size, 0);
  work();
  await poll();
  t.is(engine.users.size, 0);
  await panel.get('/panel/api/clients/resetTraffic/ann', { method: 'POST' });
  t.is(engine.users.size, 1);
});

test('keeps one reading of each counter, however many polls fail', (t) => {
  const unsaved = new UnsavedReadings();
  for (let i = 1; i <= 100; i++)
    unsaved.hold([{ clientId: 1, inboundId: 1, epoch: 'first', up: i, down: 10 * i }]);
  const stored = { epoch: 'first', up: 40, down: 400 };
  t.deepEqual(
    unsaved.ofEarlierCores('first', () => stored),
    [],
  );
  t.deepEqual(
    unsaved.ofEarlierCores('second', () => stored),
    [{ clientId: 1, inboundId: 1, up: 60, down: 600 }],
  );
  // The answer to a commit was lost, and the database has it.
  t.deepEqual(
    unsaved.ofEarlierCores('second', () => ({ epoch: 'second', up: 0, down: 0 })),
    [],
  );
});

test('when only limits cannot be written, the core loses the users at once and the next poll looks at all clients', async (t) => {
  const { panel, engine, poll, inboundId, used, clientWatch } = await open();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId], { totalGB: 1000 });
  await poll();
  const { run } = clientWatch;
  clientWatch.run = () => Promise.reject(kernelErrors.STORAGE());
  engine.move(inboundId, id, 0, 1200);
  await poll();
  t.deepEqual(await used('ann'), [0, 1200, true], 'the bytes are written, the limit is not');
  t.deepEqual([...engine.users.keys()], []);
  clientWatch.run = run;
  await poll();
  t.deepEqual(await used('ann'), [0, 1200, false], 'it moved nothing in this poll');
});

test('bytes over several inbounds are one sum for the quota of their client', async (t) => {
  const { panel, engine, poll, fail, inboundId } = await open();
  await using _ = panel;
  const second = await panel.addInbound();
  const { id } = await panel.addClient('ann', [inboundId, second], { totalGB: 1000 });
  fail();
  engine.move(inboundId, id, 0, 600);
  engine.move(second, id, 500, 0);
  await poll();
  t.deepEqual([...engine.users.keys()], []);
});

test('a plugin that spares a client from its limit spares it without the database too', async (t) => {
  const merciful = definePlugin({
    name: 'merciful',
    version: '1.0.0',
    api: 1,
    about: 'Spares everybody.',
    taps: () => [tap(depletionCandidates, () => [])],
  });
  const { panel, engine, poll, fail, inboundId } = await open([merciful]);
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId], { totalGB: 1000 });
  fail();
  engine.move(inboundId, id, 0, 2000);
  await poll();
  t.is(engine.users.size, 1);
});

test('unsaved bytes of a client that is deleted meanwhile count nowhere, and hold up nobody', async (t) => {
  const { panel, engine, poll, fail, work, inboundId, used } = await open();
  await using _ = panel;
  const { id } = await panel.addClient('ann', [inboundId]);
  const gone = await panel.addClient('bob', [inboundId]);
  fail();
  for (const clientId of [id, gone.id]) engine.move(inboundId, clientId, 1, 100);
  await poll();
  engine.restart('second');
  engine.move(inboundId, id, 2, 200);
  await panel.get('/panel/api/clients/del/bob', { method: 'POST' });
  work();
  await poll();
  t.deepEqual(await used('ann'), [3, 300, true]);
  t.like(await panel.get(`/panel/api/inbounds/get/${inboundId}`), { up: 3, down: 300 });
  t.deepEqual(panel.faults, []);
});
