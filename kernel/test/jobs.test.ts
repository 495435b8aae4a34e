import test from 'ava';
import { job } from '../index.js';
import { systemClock } from '../jobs/clock.js';
import { durationOf, Schedule } from '../jobs/schedule.js';
import { createLog } from '../../panel/log.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { latch, until } from './world.js';

function schedule() {
  const clock = new FakeClock();
  const faults: string[] = [];
  const runner = {
    name: 'bakery',
    about: '',
    faulty: false,
    why: '',
    fault: (where: string, error: unknown) => void faults.push(`${where}: ${(error as Error).message}`),
  };
  return {
    clock,
    faults,
    runner,
    schedule: new Schedule(clock, createLog({ level: 'error', readable: false, write: () => undefined })),
  };
}
const idle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('a job runs once each time that it is due, and not before', async (t) => {
  const { clock, runner, schedule: jobs } = schedule();
  let runs = 0;
  jobs.start(
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

test('a job that takes longer than its period is not run beside itself; others are', async (t) => {
  const { clock, runner, schedule: jobs } = schedule();
  const ovens: ReturnType<typeof latch>[] = [];
  let others = 0;
  jobs.start(
    runner,
    job('cake', '1s', () => {
      const oven = latch();
      ovens.push(oven);
      return oven.opened;
    }),
  );
  jobs.start(
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

test('a job that throws is a fault with its name, and runs again', async (t) => {
  const { clock, runner, faults, schedule: jobs } = schedule();
  jobs.start(
    runner,
    job('burnt', '1s', () => {
      throw new Error('smoke');
    }),
  );
  jobs.start(
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

test('a stop tells jobs under way, waits for them, and does not blame them for ending', async (t) => {
  const { clock, runner, faults, schedule: jobs } = schedule();
  const story: string[] = [];
  jobs.start(
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

test("a faulty plugin's jobs rest", async (t) => {
  const { clock, runner, schedule: jobs } = schedule();
  let runs = 0;
  jobs.start(
    runner,
    job('bread', '1s', () => void runs++),
  );
  runner.faulty = true;
  clock.tick(3_000);
  await idle();
  t.is(runs, 0);
  await jobs.stop();
});

test('durations are a number and a unit', (t) => {
  t.deepEqual(['250ms', '5s', '10m', '2h', '1d', '24d'].map(durationOf), [
    250,
    5_000,
    600_000,
    7_200_000,
    86_400_000,
    24 * 86_400_000,
  ]);
  for (const wrong of ['', '5', 's', '5 s', '5sec', '-5s', '1.5s', '5S', '1w'])
    t.throws(() => durationOf(wrong), { message: new RegExp(`^"${wrong}" is no duration; write`) }, wrong);
});

test('a period that a timer cannot keep is refused: it would fire every millisecond', (t) => {
  for (const wrong of ['0s', '25d', '1000h', '99999999999s'])
    t.throws(() => durationOf(wrong), {
      message: new RegExp(`^"${wrong}" is no duration that a timer can keep`),
    });
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
