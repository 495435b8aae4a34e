import test from 'ava';
import { defineErrors, stage, tap } from '../../../kernel/index.js';
import { beforeCoreStop, beforeCountersGo, type CoreCounters } from '../contract.js';
import { World } from './world.js';

const errors = defineErrors('test', { REFUSED: [409, 'this core stays'] });
const problems: Readonly<Record<string, () => Promise<void>>> = {
  'a refusal': () => Promise.reject(errors.REFUSED()),
  'an error': () => Promise.reject(new Error('a tap failed')),
};

for (const [what, problem] of Object.entries(problems)) {
  test(`${what} before the stop keeps no other tap from its last poll, and the core stops`, async (t) => {
    const world = new World();
    await world.open();
    const epoch = (await world.supervisor.counters())?.epoch;
    const polls: (string | undefined)[] = [];
    const last: CoreCounters[] = [];
    world.tap(tap(beforeCoreStop, problem, { stage: stage.FIRST }));
    world.tap(
      tap(beforeCoreStop, async () => void polls.push((await world.supervisor.counters())?.epoch), {
        stage: stage.LATE,
      }),
    );
    world.tap(tap(beforeCountersGo, problem, { stage: stage.FIRST }));
    world.tap(tap(beforeCountersGo, ({ counters }) => void last.push(counters), { stage: stage.LATE }));
    await world.supervisor.stop('end');
    t.deepEqual(polls, [epoch], 'the core still answered');
    t.deepEqual(
      last.map((counters) => counters.epoch),
      [epoch],
    );
    t.is(world.driver.core, undefined);
    t.is(world.state, 'stop');
  });
}

test('plugins get the last counters of a core that cannot be stopped', async (t) => {
  const world = new World();
  await world.open();
  const epoch = (await world.supervisor.counters())?.epoch;
  const last: CoreCounters[] = [];
  world.tap(tap(beforeCountersGo, ({ counters }) => void last.push(counters)));
  world.driver.stop = () => Promise.reject(new Error('kill EPERM'));
  await t.throwsAsync(world.supervisor.stop('end'), { message: 'kill EPERM' });
  t.deepEqual(
    last.map((counters) => counters.epoch),
    [epoch],
  );
});

test('counters of a core that was replaced while they were read are refused', async (t) => {
  const world = new World();
  await world.open();
  const { driver } = world;
  const read = driver.counters.bind(driver);
  driver.counters = async () => {
    driver.counters = read;
    const users = await read();
    await world.supervisor.restart('a test');
    return users;
  };
  t.is(await world.supervisor.counters(), undefined);
  t.is((await world.supervisor.counters())?.epoch, driver.core?.process.epoch);
});
