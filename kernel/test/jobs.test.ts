import test from 'ava';
import { job } from '../index.js';
import { systemClock } from '../../timing/clock.js';
import { type Job, Schedule } from '../jobs/schedule.js';
import type { Owner } from '../plugin/owner.js';
import { createLog } from '../../panel/log.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { latch, until } from './world.js';

function schedule() {
  const clock = new FakeClock();
  const faults: string[] = [];
  const runner = {
    name: 'bakery',
    about: '',
    isOff: false,
    offReason: '',
    fault: (where: string, error: unknown) => void faults.push(`${where}: ${(error as Error).message}`),
  };
  const log = createLog({ level: 'error', readable: false, write: () => undefined });
  const jobs = new Schedule(clock, log);
  jobs.begin();
  return { clock, faults, runner, schedule: jobs };
}
const start = (jobs: Schedule, runner: Owner, one: Job) => jobs.add(runner, [one]);
const idle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('runs a job once each time that it is due, and not before', async (t) => {
  const { clock, runner, schedule: jobs } = schedule();
  let runs = 0;
  start(
    jobs,
    runner,
    job('bread', '10s', () => void runs++),
  );
  clock.tick(9_999);
  await idle();
  t.is(runs, 0);
  clock.tick(1);
  await idle();
  t.is(runs, 1);
  clock.tick(10_000);
  await idle();
  t.is(runs, 2);
  await jobs.stop();
  clock.tick(60_000);
  await idle();
  t.is(runs, 2);
});

test('never runs a slow job twice at once; other jobs run meanwhile', async (t) => {
  const { clock, runner, schedule: jobs } = schedule();
  const ovens: ReturnType<typeof latch>[] = [];
  let others = 0;
  start(
    jobs,
    runner,
    job('cake', '1s', () => {
      const oven = latch();
      ovens.push(oven);
      return oven.opened;
    }),
  );
  start(
    jobs,
    runner,
    job('bread', '1s', () => void others++),
  );
  clock.tick(5_000);
  await idle();
  for (let i = 0; i < 4; i++) {
    clock.tick(1_000);
    await idle();
  }
  t.is(ovens.length, 1);
  t.is(others, 5);
  ovens[0]?.open();
  await idle();
  clock.tick(1_000);
  await idle();
  t.is(ovens.length, 2);
  ovens[1]?.open();
  await jobs.stop();
});

test('reports a job that throws as a fault with its name, and runs it again', async (t) => {
  const { clock, runner, faults, schedule: jobs } = schedule();
  start(
    jobs,
    runner,
    job('burnt', '1s', () => {
      throw new Error('smoke');
    }),
  );
  start(
    jobs,
    runner,
    job('slow burnt', '1s', () => Promise.reject(new Error('more smoke'))),
  );
  clock.tick(1_000);
  await idle();
  clock.tick(1_000);
  await idle();
  t.deepEqual(faults.sort(), [
    'job burnt of bakery: smoke',
    'job burnt of bakery: smoke',
    'job slow burnt of bakery: more smoke',
    'job slow burnt of bakery: more smoke',
  ]);
  await jobs.stop();
});

test('a stop aborts jobs under way, waits for them, and counts no fault', async (t) => {
  const { clock, runner, faults, schedule: jobs } = schedule();
  const story: string[] = [];
  start(
    jobs,
    runner,
    job(
      'long',
      '1s',
      (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () =>
            setImmediate(() => (story.push('ended'), reject(new Error('aborted')))),
          ),
        ),
    ),
  );
  clock.tick(1_000);
  await idle();
  await jobs.stop();
  story.push('stopped');
  t.deepEqual(story, ['ended', 'stopped']);
  t.deepEqual(faults, []);
});

test('pauses the jobs of a closed plugin', async (t) => {
  const { clock, runner, schedule: jobs } = schedule();
  let runs = 0;
  start(
    jobs,
    runner,
    job('bread', '1s', () => void runs++),
  );
  runner.isOff = true;
  clock.tick(3_000);
  await idle();
  t.is(runs, 0);
  await jobs.stop();
});

test('the system clock ticks until it is told not to', async (t) => {
  t.true(Math.abs(systemClock.now() - Date.now()) < 60_000);
  let ticks = 0;
  const cancel = systemClock.every(1, () => void ticks++);
  await until(() => ticks >= 3, 'three ticks');
  cancel();
  const then = ticks;
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.is(ticks, then);
});
