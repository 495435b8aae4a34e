// The throttle of a name, counts and blocks by themselves: how they grow, end and are forgotten.
import { hash } from 'node:crypto';
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { BlockStore, type StoredBlock } from '../block-store.js';
import { type Limit, LoginLimits, type Outcome } from '../login-limits.js';
import { NameThrottle } from '../name-throttle.js';
import type { AccessTables } from '../tables.js';

const MINUTE = 60_000;
function throttled() {
  const clock = new FakeClock();
  const throttle = new NameThrottle({ clock });
  const check = (name: string, outcome: Outcome, wrongCode = false): number => {
    const entered = throttle.enter(name);
    entered?.leave(outcome, wrongCode);
    return entered?.delay ?? -1;
  };
  return { clock, throttle, check };
}
const times = <T>(count: number, work: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => work(i));

test('three failures of a name cause no delay; each further one doubles it, up to five seconds', (t) => {
  const { clock, check } = throttled();
  t.deepEqual(
    times(11, () => check('ada', 'failed')),
    [0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000],
  );
  t.is(check('bob', 'undecided'), 0, 'another name has a throttle of its own');
  clock.tick(5 * MINUTE);
  t.is(check('ada', 'undecided'), 0, 'they are forgotten');
});

test('running checks count as failures; a name may have four', (t) => {
  const { throttle } = throttled();
  const four = times(4, () => throttle.enter('ada'));
  t.deepEqual(
    four.map((entered) => entered?.delay),
    [0, 0, 0, 100],
  );
  t.is(throttle.enter('ada'), undefined);
  four[0]?.leave('undecided', false);
  t.is(throttle.enter('ada')?.delay, 100);
});

test('a success clears the wrong passwords of a name, but wrong codes only after an hour', (t) => {
  const { clock, check } = throttled();
  times(6, () => check('ada', 'failed'));
  t.is(check('ada', 'succeeded'), 800);
  t.is(check('ada', 'undecided'), 0);
  times(6, () => check('ada', 'failed', true));
  t.is(check('ada', 'succeeded'), 800);
  t.is(check('ada', 'undecided'), 800);
  clock.tick(59 * MINUTE);
  t.is(check('ada', 'undecided'), 800);
  clock.tick(MINUTE);
  t.is(check('ada', 'undecided'), 0);
});

test('a flood of names displaces the oldest failures in the throttle, never a running check', (t) => {
  const { throttle, check } = throttled();
  times(6, () => check('ada', 'failed'));
  times(4, () => throttle.enter('bob'));
  times(10_000, (i) => check(`name ${i}`, 'failed'));
  t.is(check('ada', 'undecided'), 0);
  t.is(throttle.enter('bob'), undefined);
});

function limited(stored: readonly StoredBlock[] = []) {
  const clock = new FakeClock();
  const writes: { readonly sql: string; readonly values: Record<string, unknown> }[] = [];
  const tx = {
    sql: { rows: () => 'rows', onConflict: () => '', incoming: () => '' },
    run: async (sql: string, values: Record<string, unknown>) => void writes.push({ sql, values }),
    apply: () => undefined,
  };
  const db = {
    write: (work: (open: typeof tx) => unknown) => work(tx),
    projection: () => ({}),
  } as unknown as Database;
  const tables = { blocks: { findAll: async () => stored } } as unknown as AccessTables;
  const limits = new LoginLimits({ clock, blocks: new BlockStore({ db, tables }) });
  const finish = (of: readonly Limit[], outcome: Outcome) => {
    const admitted = limits.admit(of);
    if (typeof admitted !== 'function') return admitted.waitMs;
    admitted(outcome);
    return 0;
  };
  return { clock, limits, writes, finish };
}

test('a success clears only the failures of the narrowest source', (t) => {
  const { finish } = limited();
  const both = (name: string): Limit[] => [
    { source: 'address', most: 6 },
    { source: `address ${name}`, most: 3 },
  ];
  times(2, () => finish(both('ada'), 'failed'));
  finish(both('ada'), 'succeeded');
  times(2, () => finish(both('ada'), 'failed'));
  t.is(finish(both('ada'), 'undecided'), 0, 'the pair started from zero');
  times(2, () => finish(both('bob'), 'failed'));
  t.is(finish(both('eve'), 'undecided'), 15 * MINUTE, 'the address did not');
});

test('a flood of sources displaces the oldest failures, never a running check', (t) => {
  const { limits, finish } = limited();
  const one = [{ source: 'ada', most: 1 }];
  const done = limits.admit(one);
  const two = [{ source: 'bob', most: 2 }];
  finish(two, 'failed');
  times(20_000, (i) => finish([{ source: `name ${i}`, most: 2 }], 'failed'));
  t.is(finish(one, 'undecided'), 1000, 'the check is still under way');
  if (typeof done === 'function') done('failed');
  t.is(finish(one, 'undecided'), 15 * MINUTE);
  finish(two, 'failed');
  t.is(finish(two, 'undecided'), 0);
});

test('writes new blocks once, together, and deletes expired ones', async (t) => {
  const { clock, limits, writes, finish } = limited();
  await limits.flush();
  t.deepEqual(writes, [], 'nothing new, nothing written');
  finish([{ source: 'ada', most: 1 }], 'failed');
  finish([{ source: 'bob', most: 1 }], 'failed');
  const until = clock.now() + 15 * MINUTE;
  await limits.flush();
  const [insert, remove] = writes.splice(0);
  const rows = JSON.parse(String(insert?.values['rows'])) as [string, number][];
  t.deepEqual(
    rows.map(([, blockedUntil]) => blockedUntil),
    [until, until],
  );
  t.regex(remove?.sql ?? '', /^DELETE FROM login_blocks WHERE blocked_until < :oldest$/);
  t.is(remove?.values['oldest'], until);
  await limits.flush();
  t.deepEqual(writes, [], 'once');
  finish([{ source: 'eve', most: 1 }], 'failed');
  await limits.forget();
  writes.length = 0;
  await limits.flush();
  t.deepEqual(writes, [], 'a block that was lifted is not written any more');
});

test('blocks of the previous run last until they expire', async (t) => {
  const now = new FakeClock().now();
  const { limits } = limited([
    { source: hash('sha256', 'over'), blockedUntil: now },
    { source: hash('sha256', 'ada'), blockedUntil: now + MINUTE },
  ]);
  await limits.load();
  t.is(limits.blockedFor(['over', 'ada']), MINUTE);
  t.is(limits.blockedFor(['over']), 0);
});

test('lifts the oldest of more than ten thousand blocks', (t) => {
  const { limits, finish } = limited();
  times(10_001, (i) => finish([{ source: `name ${i}`, most: 1 }], 'failed'));
  t.is(limits.blockedFor(['name 0']), 0);
  t.is(limits.blockedFor(['name 1']), 15 * MINUTE);
});
