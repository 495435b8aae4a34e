import test from 'ava';
import { limitOf, orderAt, renewAt, waitAfter } from '../order-times.js';
import { retryAfter } from '../ca-calls.js';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const chain = (life: number, serial = 'a') => ({
  chain: '',
  issuer: '',
  serial,
  validFrom: 0,
  validTo: life,
});

test('a certificate is renewed when a third of its life is left, and not all at the same time', (t) => {
  const times = Array.from({ length: 200 }, (_, i) => renewAt(chain(90 * DAY, `${i}`)));
  t.true(Math.max(...times) <= 60 * DAY && Math.min(...times) >= 55.5 * DAY);
  t.true(new Set(times).size > 190, 'spread');
  t.true(Math.max(...times) - Math.min(...times) > 4 * DAY);
  t.is(renewAt(chain(90 * DAY, 'x')), renewAt(chain(90 * DAY, 'x')), 'the same at each look');
  t.true(renewAt(chain(6 * DAY)) <= 4 * DAY);
});

test('after failures the next order waits longer and longer', (t) => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((failures) => waitAfter(failures, 0));
  t.deepEqual(waits, [10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, DAY, DAY]);
  t.is(waitAfter(1, 1), 12 * MINUTE);
  t.is(orderAt({ notBefore: 500, createdAt: 100 }, undefined), 500);
  t.is(orderAt({ notBefore: 0, createdAt: 100 }, undefined), 100);
  t.is(orderAt({ notBefore: 100 * DAY, createdAt: 0 }, chain(90 * DAY)), 100 * DAY);
});

test('no more orders begin than authorities allow', (t) => {
  const now = 100 * DAY;
  const order = (state: 'failed' | 'issued' | 'lost', ago: number, url = 'https://x/') => ({
    state,
    startedAt: now - ago,
    url,
  });
  const failed = [10, 20, 30].map((ago) => order('failed', ago * MINUTE));
  t.is(limitOf(failed, now), undefined);
  t.deepEqual(limitOf([...failed, order('failed', 50 * MINUTE)], now), {
    why: '4 orders for these names failed within an hour, and authorities refuse the fifth',
    until: now + 10 * MINUTE,
  });
  t.is(limitOf([...failed, order('failed', 61 * MINUTE)], now), undefined);
  t.truthy(limitOf([...failed, order('lost', 50 * MINUTE, '')], now), 'the authority may know it');
  t.is(limitOf([...failed, order('failed', 50 * MINUTE, '')], now), undefined, 'the authority never knew it');
  const issued = [1, 2, 3, 4].map((ago) => order('issued', ago * DAY));
  t.is(limitOf(issued, now)?.until, now + 3 * DAY);
  t.is(limitOf(issued.slice(1), now), undefined);
  // A clock that was set back leaves orders in the future; they block nothing.
  t.is(
    limitOf(
      issued.map((one) => ({ ...one, startedAt: now + DAY })),
      now,
    ),
    undefined,
  );
});

test('the word of an authority about the next attempt is read, and bounded', (t) => {
  const now = Date.UTC(2026, 0, 1);
  t.is(retryAfter('120', now), now + 120_000);
  t.is(retryAfter('Thu, 01 Jan 2026 01:00:00 GMT', now), now + HOUR);
  t.is(retryAfter('999999999999', now), now + 7 * DAY);
  t.is(retryAfter('Thu, 01 Jan 2099 01:00:00 GMT', now), now + 7 * DAY);
  for (const header of [null, '', 'soon', '-5', '0', 'Thu, 01 Jan 2020 01:00:00 GMT', '1e99', 'NaN'])
    t.is(retryAfter(header, now), 0, String(header));
});
