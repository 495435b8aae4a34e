import test, { type ExecutionContext } from 'ava';
import { tap } from '../../../kernel/index.js';
import { beforeCountersGo, type CoreCounters } from '../contract.js';
import { HangWatch } from '../life/hang-watch.js';
import { World } from './world.js';

const EVERY = 3000;
const LIMIT = 4000;
const user = (clientId: number) => ({ inboundId: 1, clientId });

/** A world with a watch on a clock of its own: a call that gets no answer takes its whole time. */
async function watched(t: ExecutionContext) {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  t.teardown(() => world.supervisor.stop('end'));
  const clock = { now: 0, late: 0 };
  const { driver, supervisor, hooks, logger: log } = world;
  driver.asked = () => {
    clock.now += driver.hangs === 'no' ? 1 : LIMIT + clock.late;
  };
  const watch = new HangWatch({ hooks, log, supervisor }, () => clock.now);
  /** checks like the job, which is not called while it runs */
  const check = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await watch.check();
      clock.now = (Math.floor(clock.now / EVERY) + 1) * EVERY;
    }
  };
  await check(1);
  driver.news();
  return { world, driver, clock, check };
}

test('a core that does not answer is killed within half a minute, not before 20 s, and started again with the reason', async (t) => {
  const { world, driver, clock, check } = await watched(t);
  const { pid } = driver.core?.process ?? {};
  const began = clock.now;
  driver.hangs = 'core';
  driver.silent.set('counters', 9);
  while (!driver.calls.includes('kill')) {
    t.true(clock.now - began < 30_000, 'it must have noticed');
    await check(1);
  }
  t.true(clock.now - began > 20_000);
  t.is(world.state, 'error');
  const { errorMsg } = world.supervisor.status();
  t.regex(errorMsg, new RegExp(`^the core \\(pid ${pid}\\) did not answer for 2\\d s and was killed$`));
  t.is(world.said('the core runs and does not answer; killing it to start another'), 1);
  t.is(world.said('the core does not answer; changes wait until it does'), 1);
  await world.until(() => world.state === 'running', 'another core runs');
  t.not(driver.core?.process.pid, pid);
  t.deepEqual(driver.names('in-1'), ['i1.c1']);
  t.is(world.supervisor.status().errorMsg, '');
});

test('one slow answer kills nothing; edits do not wait for it and reach the core afterwards', async (t) => {
  const { world, driver, check } = await watched(t);
  driver.hangs = 'core';
  await check(1);
  world.users.set('i1.c2', 'b');
  world.inbound(2);
  t.like(await world.supervisor.reconcileUsers([user(2)]), {
    pending: true,
    reason: 'the core has not answered for 4 s',
  });
  t.true((await world.supervisor.reconcileConfig()).pending);
  await t.throwsAsync(world.supervisor.counters(), { message: 'the core has not answered for 4 s' });
  t.deepEqual(driver.news(), [], 'nothing was asked of it');
  t.is(world.supervisor.status().errorMsg, 'the core has not answered for 4 s');
  await world.supervisor.retryPending();
  t.deepEqual(driver.news(), []);
  driver.hangs = 'no';
  await check(1);
  t.is(world.supervisor.status().errorMsg, '');
  await world.supervisor.retryPending();
  t.deepEqual([driver.names('in-1'), driver.names('in-2')], [['i1.c1', 'i1.c2'], []]);
  await check(20);
  t.false(driver.calls.includes('kill'));
  t.is(world.said('the core answers again'), 1);
});

test('answers now and then keep the core', async (t) => {
  const { driver, check } = await watched(t);
  for (let round = 0; round < 5; round++) {
    driver.hangs = 'core';
    await check(3);
    driver.hangs = 'no';
    await check(1);
  }
  t.false(driver.calls.includes('kill'));
});

test('a panel whose own loop was blocked does not blame the core', async (t) => {
  const { world, driver, clock, check } = await watched(t);
  driver.hangs = 'core';
  clock.late = 5000;
  await check(20);
  t.false(driver.calls.includes('kill'));
  t.is(world.supervisor.status().errorMsg, '');
});

test('failures before and after a machine was suspended do not add up', async (t) => {
  const { driver, clock, check } = await watched(t);
  driver.hangs = 'core';
  for (let round = 0; round < 5; round++) {
    await check(3);
    clock.now += 60_000;
  }
  t.false(driver.calls.includes('kill'));
  await check(4);
  t.true(driver.calls.includes('kill'), 'four in a row are enough');
});

test('when only the connection is stuck, it is replaced and the core stays', async (t) => {
  const { world, driver, check } = await watched(t);
  driver.hangs = 'connection';
  await check(5);
  t.deepEqual(driver.news(), ['reconnect']);
  t.is(world.state, 'running');
  t.is(world.supervisor.status().errorMsg, '');
});

test('counters that can still be read are handed on before the core is killed', async (t) => {
  const { world, driver, check } = await watched(t);
  const epoch = (await world.supervisor.counters())?.epoch;
  const last: CoreCounters[] = [];
  world.tap(
    tap(beforeCountersGo, ({ counters }) => {
      t.false(driver.calls.includes('kill'));
      last.push(counters);
    }),
  );
  driver.hangs = 'core';
  await check(5);
  t.true(driver.calls.includes('kill'));
  t.deepEqual(
    last.map((counters) => counters.epoch),
    [epoch],
  );
});

test('a core that does not answer is stopped without being asked for anything', async (t) => {
  const { world, driver } = await watched(t);
  driver.hangs = 'core';
  await world.supervisor.stop('end');
  t.deepEqual(driver.news(), ['stop']);
  t.deepEqual(world.stops, []);
});
