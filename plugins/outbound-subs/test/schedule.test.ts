// Which lists are fetched, and what ends a run.
import test from 'ava';
import { ListProblem } from '../list-problem.js';
import { Schedule } from '../schedule.js';
import type { Sub } from '../sub-store.js';

const NOW = 10_000_000;
const sub = (id: number, more: Partial<Sub> = {}): Sub =>
  ({ id, enabled: true, updateInterval: 600, failures: 0, triedAt: 0, ...more }) as Sub;

function scheduleOf(list: Sub[], refresh: (id: number) => Promise<void> = async () => undefined) {
  const asked: number[] = [];
  const schedule = new Schedule({
    clock: { now: () => NOW } as never,
    store: { list: () => list } as never,
    refresher: {
      refresh: async (id: number, asker: string) => {
        asked.push(id);
        if (asker !== 'schedule') throw new Error('only an admin changes the default outbound');
        await refresh(id);
      },
    } as never,
  });
  return { asked, run: (signal = new AbortController().signal) => schedule.run(signal) };
}

test('what is due is fetched, the longest untried first; what is disabled is not', async (t) => {
  const { asked, run } = scheduleOf([
    sub(1, { triedAt: NOW - 600_000 }),
    sub(2, { triedAt: NOW - 599_999 }),
    sub(3),
    sub(4, { enabled: false }),
    sub(5, { triedAt: NOW - 700_000, failures: 1 }),
    sub(6, { triedAt: NOW + 600_000 }),
  ]);
  await run();
  t.deepEqual(asked, [3, 1, 6], 'a clock that was set back makes a list due');
});

test('a list that cannot be used, or is gone, ends nothing; a fault is one', async (t) => {
  const list = Array.from({ length: 10 }, (_, n) => sub(n + 1));
  const all = scheduleOf(list, (id) => Promise.reject(new ListProblem(String(id))));
  await all.run();
  t.is(all.asked.length, 10);
  const gone = scheduleOf([...list], async () => Promise.reject(new Error('not found')));
  await t.throwsAsync(gone.run(), { message: 'not found' });
  const left = [...list];
  const deleted = scheduleOf(left, async (id) => {
    left.splice(
      left.findIndex((one) => one.id === id),
      1,
    );
    throw new Error('not found');
  });
  await deleted.run();
  t.is(deleted.asked.length, 10);
  const stop = new AbortController();
  const stopped = scheduleOf(list, async () => {
    stop.abort();
    throw new Error('it was stopped');
  });
  await stopped.run(stop.signal);
  t.true(stopped.asked.length <= 4);
});
