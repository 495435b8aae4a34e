// What a renewal makes of an expiry.
import test from 'ava';
import { renewedExpiry } from '../model/renewal.js';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;

test('days are added to what is left, or to now where nothing is', (t) => {
  t.is(renewedExpiry(NOW + 5 * DAY, 2, NOW), NOW + 7 * DAY);
  t.is(renewedExpiry(NOW - 5 * DAY, 2, NOW), NOW + 2 * DAY);
  t.is(renewedExpiry(-30 * DAY, 2, NOW), -2 * DAY, 'a time that has not started becomes these days');
  t.is(renewedExpiry(0, 2, NOW), 0, 'no end stays no end');
});
