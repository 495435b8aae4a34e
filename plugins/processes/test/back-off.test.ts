import test from 'ava';
import { BackOff } from '../back-off.js';

const delays = (backOff: BackOff, times: number) => Array.from({ length: times }, () => backOff.later());

test('delays double up to a ceiling, and begin again after a healthy life or a cancel', (t) => {
  const backOff = new BackOff(() => t.fail('too early'));
  t.teardown(() => backOff.cancel());
  t.deepEqual(delays(backOff, 8), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  backOff.lived(60_000);
  t.deepEqual(delays(backOff, 1), [30_000], 'a life of a minute is not enough');
  backOff.lived(60_001);
  t.deepEqual(delays(backOff, 2), [1000, 2000]);
  backOff.cancel();
  t.deepEqual(delays(backOff, 2), [1000, 2000]);
});

test('other times are used', (t) => {
  const backOff = new BackOff(() => undefined, { first: 300_000, last: 700_000, healthy: 5 });
  t.teardown(() => backOff.cancel());
  t.deepEqual(delays(backOff, 3), [300_000, 600_000, 700_000]);
  backOff.lived(6);
  t.is(backOff.later(), 300_000);
});
