import test, { type ExecutionContext } from 'ava';
import { tap } from '../../../kernel/index.js';
import { coreMemoryHigh } from '../contract.js';
import { MemoryWatch } from '../life/memory-watch.js';
import { availableBytes, residentBytes } from '../life/process-memory.js';
import { World } from './world.js';

const MIB = 1 << 20;

async function watched(t: ExecutionContext, settings = { engineMemoryAlert: 100, engineMemoryRestart: 0 }) {
  const world = new World();
  await world.open();
  t.teardown(() => world.supervisor.stop('end'));
  const events: number[] = [];
  world.tap(tap(coreMemoryHigh, ({ bytes, limit }) => void events.push(bytes / MIB, limit / MIB)));
  const of = { mib: 50, now: 0 };
  const { supervisor, hooks, logger: log } = world;
  const watch = new MemoryWatch(
    { supervisor, hooks, log, clock: { now: () => of.now }, settings: { read: () => settings } },
    async () => of.mib * MIB,
  );
  /** checks with this much memory */
  const check = async (mib: number, times: number) => {
    of.mib = mib;
    for (let i = 0; i < times; i++) await watch.check();
  };
  const memory = () => world.supervisor.status().memory;
  return { world, of, settings, events, check, memory };
}

test('memory over the limit is reported once, after a while, and again only after it was well below', async (t) => {
  const { world, events, check, memory } = await watched(t);
  await check(50, 1);
  t.deepEqual(memory(), { bytes: 50 * MIB, limit: 100 * MIB, isHigh: false });
  await check(101, 2);
  await check(100, 1);
  await check(101, 2);
  t.deepEqual([events, memory().isHigh], [[], false], 'two peaks');
  await check(101, 1);
  t.deepEqual([events, memory().isHigh], [[101, 100], true]);
  await check(95, 3);
  await check(102, 3);
  t.deepEqual([events.length, memory().isHigh], [2, true], 'just below the limit is not over');
  await check(89, 1);
  t.false(memory().isHigh);
  await check(103, 3);
  t.deepEqual(events, [101, 100, 103, 100]);
  t.is(world.said('the core uses more memory than it should'), 2);
  t.is(world.said('the core uses less memory again'), 1);
});

test('a new core is counted from its own start, and none has no memory', async (t) => {
  const { world, events, check, memory } = await watched(t);
  await check(101, 2);
  await world.supervisor.restart('a test');
  await check(101, 2);
  t.deepEqual(events, []);
  await check(101, 1);
  await world.supervisor.restart('a test');
  await check(101, 3);
  t.is(events.length, 4, 'of each core');
  await world.supervisor.stop('a test');
  t.deepEqual(memory(), { bytes: 0, limit: 0, isHigh: false });
  await check(101, 1);
  t.deepEqual(memory(), { bytes: 0, limit: 0, isHigh: false });
});

test('the limit is a share of the memory there is, or off', async (t) => {
  const { settings, events, check, memory } = await watched(t, {
    engineMemoryAlert: -1,
    engineMemoryRestart: 0,
  });
  await check(50, 1);
  t.is(memory().limit, Math.floor(availableBytes() * 0.6));
  const all = availableBytes() / MIB;
  await check(all, 3);
  t.true(memory().isHigh);
  settings.engineMemoryAlert = 0;
  await check(all, 3);
  t.deepEqual(memory(), { bytes: availableBytes(), limit: 0, isHigh: false });
  t.is(events.length, 2);
});

test('a core over the second limit is restarted with a last poll, at most every ten minutes', async (t) => {
  const { world, of, check } = await watched(t, { engineMemoryAlert: 0, engineMemoryRestart: 200 });
  const { driver } = world;
  const pid = () => driver.core?.process.pid;
  const first = pid();
  await check(201, 2);
  await check(199, 1);
  await check(201, 2);
  t.is(pid(), first, 'peaks');
  await check(201, 1);
  const second = pid();
  t.not(second, first);
  t.deepEqual(world.stops, ['alive']);
  of.now += 10 * 60_000 - 1;
  await check(201, 9);
  t.is(pid(), second);
  t.is(world.said('the core is over its memory limit again soon after a restart'), 1);
  of.now += 1;
  await check(201, 1);
  t.not(pid(), second);
});

test('a restart whose config the core rejects is not repeated at once', async (t) => {
  const { world, check } = await watched(t, { engineMemoryAlert: 0, engineMemoryRestart: 200 });
  world.inbound(1);
  world.driver.refuses.set('in-1', 'bad port');
  await world.supervisor.reconcileConfig();
  const { core } = world.driver;
  await check(201, 9);
  t.is(world.driver.core, core);
  t.is(world.said('the core was not restarted, and stays over its memory limit'), 1);
});

test('the memory of a process is read from the system, and of none is undefined', async (t) => {
  const bytes = await residentBytes(process.pid);
  t.true(bytes !== undefined && Math.abs(bytes - process.memoryUsage.rss()) < 64 * MIB);
  t.is(await residentBytes(2 ** 30), undefined);
  t.true(availableBytes() > 64 * MIB);
});
