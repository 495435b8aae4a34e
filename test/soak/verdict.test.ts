// The checks of a soak see what they are there for.
import test from 'ava';
import { flatMemory, held, noFailures, percentile, type Sample, sameBytes, slope } from './verdict.js';

const MINUTE = 60_000;
const samples = (minutes: number, value: (at: number, n: number) => number): Sample[] =>
  Array.from({ length: minutes * 60 }, (_, n) => ({ at: n * 1000, value: value(n * 1000, n) }));

test('the slope and the percentile are those of the samples', (t) => {
  t.is(slope(samples(1, (at) => 3 + at / 500)).toFixed(6), '0.002000');
  t.is(percentile([...Array(1000).keys()].reverse(), 0.99), 990);
});

test('a leak of one MiB a minute is seen through a saw of 40 MiB; what grows in the first part is not', (t) => {
  const saw = (n: number) => (n % 20) * 2;
  const good = samples(60, (at, n) => 280 + Math.min(at, 10 * MINUTE) / MINUTE + saw(n));
  t.true(flatMemory(good, 10 * MINUTE, 0.05).isGood);
  t.false(flatMemory(good, 0, 0.001).isGood);
  t.false(
    flatMemory(
      samples(60, (at, n) => 280 + at / MINUTE + saw(n)),
      10 * MINUTE,
      0.05,
    ).isGood,
  );
  t.false(flatMemory([], 0, 0.05).isGood, 'no sample is no proof');
});

test('a last part that is slower than the first is not held, a slow middle is', (t) => {
  const limits = { times: 1.5, more: 5 };
  const at = (from: number, to: number) =>
    samples(60, (ms) => (ms >= from * MINUTE && ms < to * MINUTE ? 100 : 10));
  t.true(held('x', at(20, 40), 10 * MINUTE, limits).isGood);
  t.false(held('x', at(50, 60), 10 * MINUTE, limits).isGood);
  t.false(held('x', [], 10 * MINUTE, limits).isGood, 'no answer is no proof');
});

test('one byte too few, or one in the wrong direction or of the wrong user, is a difference', (t) => {
  const moved = [
    { up: 10, down: 20 },
    { up: 30, down: 40 },
  ];
  t.true(sameBytes(moved, moved).isGood);
  t.false(sameBytes(moved, [{ up: 10, down: 19 }, moved[1] ?? { up: 0, down: 0 }]).isGood);
  t.false(sameBytes(moved, [{ up: 20, down: 10 }, moved[1] ?? { up: 0, down: 0 }]).isGood);
  t.false(sameBytes(moved, moved.toReversed()).isGood);
  t.false(sameBytes([{ up: 0, down: 0 }], [{ up: 0, down: 0 }]).isGood, 'nothing moved is no proof');
});

test('one failure is enough, and nothing done is no proof', (t) => {
  t.true(noFailures([], 1).isGood);
  t.false(noFailures(['fetch: 503'], 1000).isGood);
  t.false(noFailures([], 0).isGood);
});
