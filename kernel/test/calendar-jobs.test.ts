// Jobs by the calendar, with jitter and on demand, on a clock that moves when the test says so.
import test from 'ava';
import { job, type Job, type When } from '../index.js';
import type { Clock } from '../../timing/clock.js';
import { Schedule } from '../jobs/schedule.js';
import { createLog } from '../../panel/log.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { latch } from './world.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const log = createLog({ level: 'error', readable: false, write: () => undefined });
const idle = () => new Promise<void>((resolve) => void setImmediate(resolve));

function world({ clock = new FakeClock(), random = (): number => 0.5, jobs = [] as readonly Job[] } = {}) {
  const faults: string[] = [];
  const owner = {
    name: 'bakery',
    about: '',
    isOff: false,
    offReason: '',
    fault: (where: string, error: unknown) => void faults.push(`${where}: ${(error as Error).message}`),
  };
  const schedule = new Schedule(clock, log, 20, random);
  schedule.add(owner, jobs);
  return { clock, faults, owner, schedule };
}

/** Times at which a job ran. */
function noted(when: When, clock: FakeClock, random?: () => number) {
  const ran: string[] = [];
  const jobs = [job('bread', when, () => void ran.push(new Date(clock.now()).toISOString().slice(0, 16)))];
  return { ran, ...world({ clock, jobs, ...(random && { random }) }) };
}

async function days(clock: FakeClock, count: number): Promise<void> {
  for (let minute = 0; minute < count * 1440; minute++) {
    clock.tick(MINUTE);
    await idle();
  }
  await idle();
}

test('runs a calendar job at its times, in its zone, when clocks go forward and back', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 2, 27, 12));
  const { ran, schedule } = noted({ at: { hour: 2, minute: 30 }, zone: 'Europe/Berlin' }, clock);
  schedule.begin();
  await days(clock, 3);
  t.deepEqual(ran, ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']);
  await schedule.stop();
  await days(clock, 1);
  t.is(ran.length, 3);
  const autumn = new FakeClock(Date.UTC(2026, 9, 24, 12));
  const folded = noted({ at: '30 2 * * *', zone: 'Europe/Berlin' }, autumn);
  folded.schedule.begin();
  await days(autumn, 2);
  t.deepEqual(folded.ran, ['2026-10-25T00:30', '2026-10-26T01:30']);
  await folded.schedule.stop();
});

test("without its own zone, a job follows the panel's zone and its changes", async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15));
  const { ran, schedule } = noted({ at: { hour: 6 } }, clock);
  // A zone that is known before the jobs begin counts as well, and it is not that of the machine.
  schedule.useZone('America/New_York');
  schedule.begin();
  t.is(schedule.list()[0]?.nextAt, Date.UTC(2026, 0, 15, 11));
  schedule.useZone('Asia/Tokyo');
  t.is(schedule.list()[0]?.nextAt, Date.UTC(2026, 0, 15, 21));
  await days(clock, 1);
  t.deepEqual(ran, ['2026-01-15T21:00']);
  await schedule.stop();
  t.is(schedule.list()[0]?.nextAt, 0, 'none is planned');
});

test('a change of the zone does not delay periodic jobs', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15));
  const { ran, schedule } = noted({ every: '1h' }, clock);
  schedule.begin();
  for (const zone of ['UTC', 'Asia/Tokyo', 'Europe/Berlin']) {
    clock.tick(20 * MINUTE);
    schedule.useZone(zone);
  }
  await idle();
  t.deepEqual(ran, ['2026-01-15T01:00']);
  await schedule.stop();
});

test('jitter delays each run by a part of it, and a stop leaves no timer', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15));
  let random = 0.5;
  const { ran, schedule } = noted({ at: { minute: 0 }, zone: 'UTC', jitter: '10m' }, clock, () => random);
  schedule.begin();
  clock.tick(64 * MINUTE);
  await idle();
  t.deepEqual(ran, []);
  clock.tick(MINUTE);
  await idle();
  t.deepEqual(ran, ['2026-01-15T01:05']);
  random = 0.9;
  clock.tick(60 * MINUTE);
  await schedule.stop();
  clock.tick(DAY);
  await idle();
  t.is(ran.length, 1, 'one that had waited was given up');
  const often = noted({ every: '1h', jitter: '10m' }, clock, () => 0.1);
  often.schedule.begin();
  clock.tick(60 * MINUTE);
  await idle();
  t.is(often.ran.length, 0);
  clock.tick(MINUTE);
  await idle();
  t.is(often.ran.length, 1);
  await often.schedule.stop();
});

test('runs once after the machine slept through a time', async (t) => {
  let now = Date.UTC(2026, 0, 15, 3, 40);
  const timers = new Map<() => void, number>();
  const clock: Clock = {
    now: () => now,
    every: (ms, run) => {
      timers.set(run, ms);
      return () => void timers.delete(run);
    },
  };
  const wake = async () => {
    for (const run of [...timers.keys()]) run();
    await idle();
  };
  let runs = 0;
  const schedule = new Schedule(clock, log);
  schedule.add(world().owner, [job('bread', { at: { hour: 4 } }, () => void runs++)]);
  schedule.useZone('UTC');
  schedule.begin();
  t.deepEqual([...timers.values()], [MINUTE], 'the clock is looked at again and again');
  // The 15th and the 16th are slept through.
  now += 2 * DAY;
  await wake();
  await wake();
  t.is(runs, 1);
  t.is(schedule.list()[0]?.nextAt, Date.UTC(2026, 0, 17, 4));
  schedule.useZone('Asia/Tokyo');
  t.is(timers.size, 1, 'what was planned by the previous zone is not');
  await schedule.stop();
  t.is(timers.size, 0);
});

test('reports the result of a run on demand, and shows the last run', async (t) => {
  const oven = latch();
  const jobs = [
    job('bread', '1d', () => oven.opened),
    job('burnt', '1d', () => Promise.reject(new Error('smoke'))),
  ];
  const { clock, schedule, faults, owner } = world({ jobs });
  schedule.begin();
  const began = clock.now();
  t.deepEqual(
    schedule.list().map(({ job: name, last, runningSince }) => [name, last, runningSince]),
    [
      ['bread', undefined, 0],
      ['burnt', undefined, 0],
    ],
  );
  const turn = schedule.run('bakery', 'bread');
  t.is(schedule.list()[0]?.runningSince, began);
  t.is(schedule.run('bakery', 'bread'), undefined, 'one turn at a time');
  clock.tick(3_000);
  oven.open();
  t.deepEqual(await turn, { startedAt: began, tookMs: 3_000, error: '' });
  t.deepEqual(await schedule.run('bakery', 'burnt'), { startedAt: began + 3_000, tookMs: 0, error: 'smoke' });
  t.deepEqual(faults, ['job burnt of bakery: smoke']);
  t.is(schedule.list()[1]?.last?.error, 'smoke');
  t.is(schedule.list()[0]?.runningSince, 0);
  t.is(schedule.run('bakery', 'cake'), undefined);
  t.is(schedule.run('cellar', 'bread'), undefined);
  owner.isOff = true;
  t.is(schedule.run('bakery', 'bread'), undefined);
  await schedule.stop();
});

test('rejects an invalid job by name, with all jobs of its plugin', (t) => {
  const { schedule, owner } = world();
  const add = (...jobs: readonly unknown[]) => schedule.add(owner, jobs as Job[]);
  const bread = job('bread', '5s', () => undefined);
  t.throws(
    () =>
      add(
        bread,
        job('cake', { at: '0 25 * * *' }, () => undefined),
      ),
    {
      message: /^job cake: its "at" cannot be used: .*25/,
    },
  );
  t.throws(() => add(job('cake', 'often', () => undefined)), {
    message: /^job cake: "often" is not a valid duration/,
  });
  t.throws(() => add(bread, bread), { message: /^job bread: it needs a name that no other/ });
  t.throws(() => add({ name: 'pie', when: '5s' }), { message: /^job pie: .* a function run/ });
  t.throws(() => add({ name: 'pie', every: '5s', run: () => undefined }), { message: /^job pie: / });
  t.deepEqual(schedule.list(), []);
});

test('removes the jobs of a dropped plugin', async (t) => {
  const clock = new FakeClock(Date.UTC(2026, 0, 15));
  const { ran, schedule, owner } = noted({ at: { minute: 0 } }, clock);
  schedule.begin();
  schedule.drop(owner);
  clock.tick(DAY);
  await idle();
  t.deepEqual([ran, schedule.list()], [[], []]);
});
