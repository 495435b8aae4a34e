// A stop comes to its end in time, whoever hangs.
import test from 'ava';
import { beforeKernelStop, job, tap } from '../index.js';
import { Schedule } from '../jobs/schedule.js';
import { createLog } from '../../panel/log.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { bare, World } from './world.js';

const never = () => new Promise<never>(() => undefined);

test('stops although a job ignores its signal', async (t) => {
  const clock = new FakeClock();
  const faults: string[] = [];
  const jobs = new Schedule(
    clock,
    createLog({ level: 'error', readable: false, write: () => undefined }),
    20,
  );
  jobs.begin();
  jobs.add(
    {
      name: 'bad',
      about: '',
      isOff: false,
      offReason: '',
      fault: (where, error) => void faults.push(`${where}: ${(error as Error).message}`),
    },
    [job('plough', '1s', never)],
  );
  clock.tick(1_000);
  await jobs.stop();
  t.deepEqual(faults, ['job plough of bad: its end took longer than 0.02 s']);
});

test('stops third-party plugins all at once: one that hangs does not use the time of the next', async (t) => {
  const faultsSeen: number[] = [];
  const hanging = (name: string) => ({
    ...bare(name, { stop: () => (faultsSeen.push(world.faults().length), never()) }),
    outside: true,
  });
  const world = await World.boot([hanging('bad'), bare('good'), hanging('worse')]);
  await world[Symbol.asyncDispose]();
  t.deepEqual(faultsSeen, [0, 0]);
});

test('waits less for a guard at a stop than elsewhere', async (t) => {
  const world = await World.boot([bare('bad', { taps: () => [tap(beforeKernelStop, never)] })], {
    limits: { tap: 3_600_000, stop: 20 },
  });
  await world[Symbol.asyncDispose]();
  t.deepEqual(
    world.faults().map((fault) => fault.replace(/ took longer.*/, '')),
    ['kernel/beforeKernelStop of bad: kernel/beforeKernelStop of bad'],
  );
});
