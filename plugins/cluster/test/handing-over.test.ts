// What happens in which order when a panel lets another one lead.
import test from 'ava';
import { RunningJobs } from '../running-jobs.js';
import { Member } from '../member.js';

function panel({ leads = true, hasEnded = true } = {}) {
  const order: string[] = [];
  const member = new Member({
    db: { projection: () => ({ plugin: 'cluster' }) },
    log: { info: () => undefined, warn: (message: string) => void order.push(message) },
    hooks: {
      notify: async ({ id }: { id: string }) => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(id);
      },
    },
    runningJobs: {
      ended: async () => {
        order.push('jobs');
        return hasEnded;
      },
    },
    leadership: {
      leads,
      pass: () => void order.push('pass'),
      release: async () => void order.push('release'),
    },
  } as unknown as ConstructorParameters<typeof Member>[0]);
  return { member, order };
}

test('nothing new begins, what began ends, jobs end, and only then another one may lead', async (t) => {
  const { member, order } = panel();
  await member.handOver('it stops');
  t.deepEqual(order, ['pass', 'cluster/beforeLeadEnds', 'jobs', 'release']);
});

test('while a job goes on the lease is not released', async (t) => {
  const { member, order } = panel({ hasEnded: false });
  await member.handOver('it stops');
  t.deepEqual(order.slice(0, 3), ['pass', 'cluster/beforeLeadEnds', 'jobs']);
  t.false(order.includes('release'));
});

test('a panel that follows only takes the lead no more', async (t) => {
  const { member, order } = panel({ leads: false });
  await member.handOver('it stops');
  t.deepEqual(order, ['pass']);
});

test('jobs have ended when those that ran have, whatever began meanwhile', async (t) => {
  const running = new Map([['poll', 1]]);
  const jobs = new RunningJobs({
    jobs: {
      list: () => [
        { plugin: 'a', job: 'idle', runningSince: 0 },
        ...[...running].map(([job, runningSince]) => ({ plugin: 'a', job, runningSince })),
      ],
    } as never,
  });
  t.false(await jobs.ended(0));
  let isOver = false;
  const ended = jobs.ended(60_000).then((is) => {
    isOver = is;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.false(isOver);
  // The same job again, and another one.
  running.set('poll', 2).set('other', 3);
  await ended;
  t.true(isOver);
  running.clear();
  t.true(await jobs.ended(0));
});
