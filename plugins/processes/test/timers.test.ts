// What has ended keeps nobody waiting: a command of the command line ends when its work is done, and not when a timer is.
import test from 'ava';
import { pidOf, until, World } from './world.js';

/** Timers that keep this process alive; those of ava come and go, so there is one test in this file. */
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('neither a stop nor a close leaves the timer of the next attempt, and an adopted process has none', async (t) => {
  const world = await World.open(t);
  const before = timers();
  const LATER = 10_000;
  const waiting = async (name: string) => {
    const one = world.manage({
      name,
      command: '/bin/sh',
      args: ['-c', 'exit 3'],
      backOff: { first: LATER, last: LATER },
    });
    await one.start();
    await until(() => one.state.name === 'waiting', 'the next attempt is planned');
    return one;
  };
  const stopped = await waiting('stopped');
  t.true(timers() > before);
  await stopped.stop();
  t.true(timers() <= before, 'after a stop');
  await waiting('closed');
  const pid = pidOf(await world.manage().start());
  world.table.expectEnd(true);
  await world.table.close();
  t.true(timers() <= before, 'after a close');

  const next = new World(world.data);
  const adopted = next.manage();
  t.is(pidOf(await adopted.start()), pid);
  t.true(timers() <= before, 'while an adopted process is looked at');
  await adopted.stop();
});
