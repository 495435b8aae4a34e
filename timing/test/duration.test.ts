import test from 'ava';
import { durationOf } from '../duration.js';

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
    t.throws(
      () => durationOf(wrong),
      { message: new RegExp(`^"${wrong}" is not a valid duration; write`) },
      wrong,
    );
});

test('rejects a duration that a timer does not support: it would fire every millisecond', (t) => {
  for (const wrong of ['0s', '25d', '1000h', '99999999999s'])
    t.throws(() => durationOf(wrong), {
      message: new RegExp(`^"${wrong}" is not a duration that a timer supports`),
    });
});
