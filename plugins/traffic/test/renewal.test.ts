// When an expired client renews, and until when.
import test from 'ava';
import { renewal, type Renewing } from '../renewal.js';

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(text);
const terms = (expiry: string, given: Partial<Renewing>): Renewing => ({
  expiryTime: at(expiry),
  reset: 0,
  resetDay: 0,
  resetMax: 0,
  resetCount: 0,
  ...given,
});
const renewed = (expiry: string, now: string, given: Partial<Renewing>, zone = 'UTC') => {
  const next = renewal(terms(expiry, given), at(now), zone);
  return next && [new Date(next.expiryTime).toISOString(), next.resetCount, next.isBack];
};

test('a client renews from its expiry on, not from the poll that finds it', (t) => {
  t.deepEqual(renewed('2026-03-01T10:11:12.345Z', '2026-03-01T10:11:15Z', { reset: 30 }), [
    '2026-03-31T10:11:12.345Z',
    1,
    true,
  ]);
  t.deepEqual(
    renewed('2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z', { reset: 1 })?.[0],
    '2026-03-02T00:00:00.000Z',
    'at its expiry itself',
  );
  t.deepEqual(
    renewed('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', { reset: 1 }),
    ['2026-03-03T00:00:00.000Z', 2, true],
    'an expiry of now is over',
  );
});

test('a client without an expiry, before it or without a renewal left is not due', (t) => {
  const now = at('2026-03-01T00:00:00Z');
  const given = terms('2026-02-01T00:00:00Z', { reset: 30 });
  t.truthy(renewal(given, now, 'UTC'));
  t.is(renewal({ ...given, reset: 0 }, now, 'UTC'), undefined);
  t.is(renewal({ ...given, expiryTime: 0 }, now, 'UTC'), undefined);
  t.is(renewal({ ...given, expiryTime: -DAY_MS }, now, 'UTC'), undefined);
  t.is(renewal({ ...given, expiryTime: now + 1 }, now, 'UTC'), undefined);
  t.is(renewal({ ...given, resetMax: 2, resetCount: 2 }, now, 'UTC'), undefined);
  t.is(renewal({ ...given, resetMax: 2, resetCount: 5 }, now, 'UTC'), undefined);
});

test('each missed period costs one renewal, and too few of them leave the client expired', (t) => {
  const missed = (resetMax: number) =>
    renewed('2026-01-01T00:00:00Z', '2026-03-10T00:00:00Z', { reset: 30, resetMax });
  t.deepEqual(missed(0), ['2026-04-01T00:00:00.000Z', 3, true]);
  t.deepEqual(missed(3), ['2026-04-01T00:00:00.000Z', 3, true]);
  t.deepEqual(missed(2), ['2026-03-02T00:00:00.000Z', 2, false]);
  t.deepEqual(
    renewed('2026-01-10T00:00:00Z', '2026-06-02T00:00:00Z', { resetDay: 1, resetMax: 4, resetCount: 1 }),
    ['2026-04-01T00:00:00.000Z', 4, false],
  );
});

test('the day of the month takes precedence over days, and day 31 is the last day of each month', (t) => {
  t.deepEqual(renewed('2026-01-31T00:00:00Z', '2026-01-31T00:00:01Z', { resetDay: 31, reset: 5 }), [
    '2026-02-28T00:00:00.000Z',
    1,
    true,
  ]);
  t.is(
    renewed('2026-02-28T00:00:00Z', '2026-02-28T00:00:01Z', { resetDay: 31 })?.[0],
    '2026-03-31T00:00:00.000Z',
    'no drift',
  );
  t.is(
    renewed('2028-01-31T00:00:00Z', '2028-01-31T00:00:01Z', { resetDay: 31 })?.[0],
    '2028-02-29T00:00:00.000Z',
  );
  t.is(
    renewed('2026-01-20T08:00:00Z', '2026-01-20T08:00:01Z', { resetDay: 21 })?.[0],
    '2026-01-21T00:00:00.000Z',
    'the next such day may be in the same month',
  );
  t.deepEqual(renewed('2025-11-15T08:00:00Z', '2026-02-03T00:00:00Z', { resetDay: 3 }), [
    '2026-03-03T00:00:00.000Z',
    4,
    true,
  ]);
});

test('days and midnights are those of the zone, and daylight saving moves neither', (t) => {
  const berlin = (expiry: string, now: string, given: Partial<Renewing>) =>
    renewed(expiry, now, given, 'Europe/Berlin')?.[0];
  // Midnight in Berlin is at 23:00 UTC in winter, at 22:00 in summer.
  t.is(berlin('2026-03-14T23:00:00Z', '2026-03-14T23:00:00Z', { reset: 30 }), '2026-04-13T22:00:00.000Z');
  t.is(berlin('2026-03-14T23:00:00Z', '2026-03-14T23:00:00Z', { resetDay: 15 }), '2026-04-14T22:00:00.000Z');
  t.is(berlin('2026-10-14T22:00:00Z', '2026-10-14T22:00:00Z', { resetDay: 15 }), '2026-11-14T23:00:00.000Z');
  // 02:30 is skipped on 29 March: the moment of the jump.
  t.is(berlin('2026-03-28T01:30:00Z', '2026-03-28T01:30:00Z', { reset: 1 }), '2026-03-29T01:00:00.000Z');
  // 02:30 comes twice on 25 October: the first one counts, once.
  t.is(berlin('2026-10-24T00:30:00Z', '2026-10-24T00:30:00Z', { reset: 1 }), '2026-10-25T00:30:00.000Z');
  t.is(berlin('2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', { reset: 1 }), '2026-10-26T01:30:00.000Z');
  // In Beirut midnight of 31 March 2024 is skipped: that day starts at 01:00.
  t.is(
    renewed('2024-02-28T22:00:00Z', '2024-03-01T00:00:00Z', { resetDay: 31 }, 'Asia/Beirut')?.[0],
    '2024-03-30T22:00:00.000Z',
  );
});

test('an expiry of long ago and a period of ages are numbers like others', (t) => {
  const long = renewal(
    { ...terms('2026-01-01T00:00:00Z', { reset: 1 }), expiryTime: 5 },
    at('2026-01-01T00:00:00Z'),
    'Europe/Berlin',
  );
  t.true(long?.isBack);
  t.true((long?.expiryTime ?? 0) <= at('2026-01-02T00:00:00Z'));
  t.is(long?.resetCount, 20_454);
  const days = renewal(
    terms('2026-01-01T00:00:00Z', { reset: Number.MAX_SAFE_INTEGER }),
    at('2026-01-02T00:00:00Z'),
    'UTC',
  );
  t.true(days?.isBack && Number.isSafeInteger(days.expiryTime));
});
