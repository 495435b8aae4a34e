// Which jobs are shown and which go, and how reasons are counted, on jobs in memory.
import test from 'ava';
import type { JobFacts, JobStore } from '../job-store.js';
import { LiveJobs } from '../live-jobs.js';
import { counted } from '../reasons.js';
import { Retention } from '../retention.js';

const NOW = Date.UTC(2030, 0, 1);
const job = (id: number, more: Partial<JobFacts> = {}): JobFacts => ({
  id,
  action: 'disable',
  params: {},
  who: { name: 'root', kind: 'session' },
  state: 'done',
  retryOf: null,
  total: 0,
  changed: 0,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  listed: 0,
  reasons: [],
  problem: '',
  createdAt: NOW,
  startedAt: NOW,
  endedAt: NOW - 1_000 + id,
  ...more,
});

test('the live stream shows the jobs that ended last, and all that are open', (t) => {
  const ended = Array.from({ length: 8 }, (_, i) => job(i + 1));
  // The first one was long at work.
  const all = [...ended.with(0, job(1, { endedAt: NOW })), job(9, { state: 'running', endedAt: null })];
  const live = new LiveJobs({ store: { all: () => all } as unknown as JobStore });
  const shown = live.type.snapshot?.() as { id: number }[];
  t.deepEqual(
    shown.map(({ id }) => id),
    [5, 6, 7, 8, 1, 9],
  );
});

async function removedOf(jobs: readonly JobFacts[]): Promise<number[]> {
  const removed: number[] = [];
  const retention = new Retention({
    db: { write: (work: (tx: object) => unknown) => work({}) },
    clock: { now: () => NOW },
    settings: { read: () => ({ bulkJobDays: 14 }) },
    store: { all: () => [...jobs], remove: (_: object, id: number) => void removed.push(id) },
    targets: { remove: () => undefined },
    skipped: { removeSome: () => false },
  } as unknown as ConstructorParameters<typeof Retention>[0]);
  await retention.run(new AbortController().signal);
  return removed.sort((a, b) => a - b);
}

test('of too many jobs, and of too many skipped clients, the oldest go', async (t) => {
  const many = Array.from({ length: 203 }, (_, i) => job(i + 1));
  t.deepEqual(await removedOf(many), [1, 2, 3]);
  t.deepEqual(await removedOf(many.with(0, job(1, { state: 'waiting', endedAt: null }))), [2, 3]);
  t.deepEqual(
    await removedOf([job(1, { listed: 500_000 }), job(2, { listed: 500_000 }), job(3, { listed: 500_000 })]),
    [1],
  );
});

test('reasons are counted, the most frequent first, and those beyond thirty together', (t) => {
  const skipped = (reason: string) =>
    ({ id: 1, email: 'ann', outcome: 'skipped', code: 'X', reason }) as const;
  const first = counted([], [skipped('rare'), skipped('often')]);
  t.deepEqual(
    counted(first, [skipped('often')]).map(({ reason, count }) => [reason, count]),
    [
      ['often', 2],
      ['rare', 1],
    ],
  );
  const many = counted(
    [],
    Array.from({ length: 40 }, (_, i) => skipped(`reason ${i}`)),
  );
  t.is(many.length, 31);
  t.like(many[0], { reason: 'other reasons', code: '', count: 10 });
});
