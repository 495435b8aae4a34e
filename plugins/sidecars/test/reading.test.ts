// Counters as a program tells them: what counts, and what would count twice.
import test from 'ava';
import type { UserCounters } from '../contract.js';
import { Readings } from '../reading.js';

const START = 1_000_000;
const readings = (isComplete = true): Readings =>
  new Readings({
    stream: 'test/in-1',
    epoch: '7-1',
    since: START,
    inboundIds: [1],
    isComplete,
    isUser: ({ clientId }) => clientId < 100,
  });
const counter = (clientId: number, up: unknown, down: unknown = 0, inboundId = 1): UserCounters =>
  ({ inboundId, clientId, up, down }) as UserCounters;

test('a reading is complete only where every counter in it is known', async (t) => {
  const one = readings();
  t.like(await one.take([counter(1, 5)], START), { isComplete: true });
  // Its last value stands for it.
  t.like(await one.take([counter(1, NaN)], START), { isComplete: true, users: [counter(1, 5)] });
  // Of this one nothing is known: as missing it would begin at zero.
  t.like(await one.take([counter(1, 5), counter(2, -1)], START), { isComplete: false });
  t.like(await readings(false).take([counter(1, 5)], START), { isComplete: false });
});

test('what cannot be a number of bytes is left out by name', async (t) => {
  for (const [value, shown] of [
    [-1, '-1'],
    [1.5, '1.5'],
    [2 ** 64, '18446744073709552000'],
    [Infinity, 'Infinity'],
    ['9', '"9"'],
    ['x'.repeat(1e6), `"${'x'.repeat(40)}"`],
    [null, 'object'],
    [undefined, 'undefined'],
    [{ toString: 1 }, 'object'],
    [10n, 'bigint'],
  ] as const) {
    const one = readings();
    const { users } = await one.take([counter(1, value), counter(2, 7)], START);
    t.deepEqual(users, [counter(2, 7)]);
    t.is(one.problem, `it reports ${shown} and 0 bytes of client 1, which cannot be; they are not counted`);
  }
  const one = readings();
  await one.take([counter(1, 1, 0, 2), counter(500, 1), null as never], START);
  t.regex(one.problem, /not of its inbounds/);
  await one.take([counter(500, 1)], START);
  t.is(one.problem, 'it counts client 500, which inbound 1 does not have');
  await t.throwsAsync(one.take({} as never, START), { message: /not a list/ });
});

test('how much can have moved grows with the time since the last reading, and never below one GiB', async (t) => {
  const one = readings();
  const { most: first = 0 } = await one.take([], START + 1000);
  const { most: second = 0 } = await one.take([], START + 1000);
  // The clock was set back.
  const { most: third = 0 } = await one.take([], START - 50_000);
  t.deepEqual([first, second, third], [1024 ** 3 + 12_500_000_000, 1024 ** 3, 1024 ** 3]);
});

test('a counter that falls is named, unless its user began again', async (t) => {
  const one = readings();
  await one.take([counter(1, 50)], START);
  await one.take([counter(1, 40)], START);
  t.regex(one.problem, /the counter of client 1 fell/);
  await one.take([counter(1, 50)], START);
  t.deepEqual(one.zero([{ inboundId: 1, clientId: 1 }]).users, [counter(1, 0)]);
  await one.take([counter(1, 3)], START);
  t.is(one.problem, '');
});
