// Another program takes the place of the core; and what happens when it does not serve.
import test from 'ava';
import { Refusal, tap } from '../../../kernel/index.js';
import { beforeCoreReload, beforeCountersGo } from '../contract.js';
import { CoreRefused, CoreUnreachable } from '../driver.js';
import { FakeDriver } from './fake-driver.js';
import { World } from './world.js';

class NextDriver extends FakeDriver {
  problem: Error | undefined;
  override async version(): Promise<string> {
    return '9.9.9';
  }
  async checkApi(): Promise<void> {
    if (this.problem) throw this.problem;
  }
}

async function boot() {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  await world.open();
  world.driver.news();
  const next = new NextDriver();
  const steps: string[] = [];
  const swap = () => world.supervisor.swap(next, 'another core', (step) => void steps.push(step));
  return { world, next, steps, swap };
}

test('the running core stops with its bytes counted, and the other one serves', async (t) => {
  const { world, next, steps, swap } = await boot();
  const last: unknown[] = [];
  world.tap(tap(beforeCountersGo, ({ counters }) => void last.push(...counters.users)));
  t.is(await swap(), '9.9.9');
  t.deepEqual(steps, ['test', 'stop', 'start', 'check']);
  t.deepEqual(last, [{ inboundId: 1, clientId: 1, up: 1, down: 2 }]);
  t.deepEqual(world.stops, ['alive']);
  t.is(world.driver.core, undefined);
  t.deepEqual(next.names('in-1'), ['i1.c1']);
  t.like(world.supervisor.status(), { state: 'running', version: '9.9.9' });
  world.inbound(1, { 2: 'b' });
  await world.supervisor.reconcileUsers([{ inboundId: 1, clientId: 2 }]);
  t.deepEqual(next.names('in-1'), ['i1.c1', 'i1.c2'], 'changes go to the new core');
  next.die('it crashed');
  await world.until(() => next.core !== undefined, 'the new core is started again');
});

test('a core that rejects the config, or a plugin that refuses, leaves the running one as it is', async (t) => {
  const { world, next, steps, swap } = await boot();
  next.refuses.set('in-1', 'in-1: not with me');
  await t.throwsAsync(swap(), { instanceOf: CoreRefused, message: 'in-1: not with me' });
  next.refuses.clear();
  world.tap(
    tap(beforeCoreReload, () => {
      throw new Refusal('no restart before midnight');
    }),
  );
  await t.throwsAsync(swap(), { message: /no restart before midnight$/ });
  t.deepEqual(steps, ['test', 'test']);
  t.deepEqual(
    world.driver.news().filter((call) => call !== 'test'),
    [],
  );
  t.like(world.supervisor.status(), { state: 'running', version: '1.2.3' });
});

test('what the present core rejects as well does not speak against the new one', async (t) => {
  const { world, next, swap } = await boot();
  for (const driver of [world.driver, next]) driver.refuses.set('in-2', 'in-2: nobody takes it');
  world.inbound(2);
  await world.supervisor.reconcileConfig();
  t.is(await swap(), '9.9.9');
  t.deepEqual(next.names('in-1'), ['i1.c1']);
  t.is(world.supervisor.status().errorMsg, 'in-2: in-2: nobody takes it');
});

test('a core that does not serve gives way to the previous one', async (t) => {
  for (const spoil of [
    (next: NextDriver) => void next.silent.set('start', 9),
    (next: NextDriver) => void (next.problem = new CoreUnreachable('no such call')),
    (next: NextDriver) => void setTimeout(() => next.die('it died'), 500),
  ]) {
    const { world, next, steps, swap } = await boot();
    spoil(next);
    await t.throwsAsync(swap(), { instanceOf: CoreUnreachable });
    t.is(steps.at(-1), 'back');
    t.is(next.core, undefined);
    t.deepEqual(world.driver.names('in-1'), ['i1.c1']);
    t.like(world.supervisor.status(), { state: 'running', version: '1.2.3' });
  }
});

test('when the previous core does not start either, it is retried', async (t) => {
  const { world, next, swap } = await boot();
  next.silent.set('start', 9);
  world.driver.silent.set('start', 1);
  await t.throwsAsync(swap(), {
    message: /; the previous core does not start either and is retried: start: no answer$/,
  });
  t.is(world.state, 'error');
  await world.until(() => world.state === 'running', 'the previous core runs');
  t.is(world.supervisor.status().version, '1.2.3');
  t.is(next.core, undefined);
});

test('a core that an admin stopped stays stopped, and starts as the other one', async (t) => {
  const { world, next, steps, swap } = await boot();
  await world.supervisor.stop('an admin stopped it');
  t.is(await swap(), '9.9.9');
  t.deepEqual(steps, ['test']);
  t.is(world.state, 'stop');
  await world.supervisor.restart('an admin starts it');
  t.truthy(next.core);
});

test('a panel without a core gets one; a bad one leaves it without', async (t) => {
  const world = new World();
  world.inbound(1, { 1: 'a' });
  world.supervisor.absent('no core found');
  const bad = new NextDriver();
  bad.silent.set('start', 9);
  await t.throwsAsync(world.supervisor.swap(bad, 'the first core', () => undefined));
  t.like(world.supervisor.status(), { state: 'stop', version: '', errorMsg: 'no core found' });
  const good = new NextDriver();
  t.is(await world.supervisor.swap(good, 'the first core', () => undefined), '9.9.9');
  t.is(world.state, 'running');
  t.deepEqual(good.names('in-1'), ['i1.c1']);
  good.die('it crashed');
  await world.until(() => good.core !== undefined, 'it is supervised');
});
