import test from 'ava';
import { calendar, type CalendarTime } from '../calendar.js';
import { timetable } from '../timetable.js';

/** The first times after a moment. */
function times(at: string | CalendarTime, from: string, zone: string, count = 2): string[] {
  const next = calendar(at);
  const found: string[] = [];
  for (let now = Date.parse(from); found.length < count; ) {
    now = next(now, zone);
    found.push(new Date(now).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

test('runs a time, in words or cron, by the clocks of the zone', (t) => {
  t.deepEqual(times({ hour: 4, minute: 30 }, '2026-01-15T12:00Z', 'UTC'), [
    '2026-01-16T04:30Z',
    '2026-01-17T04:30Z',
  ]);
  t.deepEqual(times({ hour: 4, minute: 30 }, '2026-01-15T12:00Z', 'Asia/Kolkata', 1), ['2026-01-15T23:00Z']);
  t.deepEqual(times('30 4 * * *', '2026-01-15T12:00Z', 'Asia/Kolkata', 1), ['2026-01-15T23:00Z']);
  t.deepEqual(
    times({ hour: 0 }, '2026-01-15T00:00Z', 'UTC', 1),
    ['2026-01-16T00:00Z'],
    'never the moment itself',
  );
  t.deepEqual(times({ minute: 15 }, '2026-01-15T12:15Z', 'UTC'), ['2026-01-15T13:15Z', '2026-01-15T14:15Z']);
  t.deepEqual(times({ hour: 3, weekday: 'sunday' }, '2026-01-15T12:00Z', 'UTC'), [
    '2026-01-18T03:00Z',
    '2026-01-25T03:00Z',
  ]);
  t.deepEqual(times({ hour: 3, day: 31 }, '2026-01-31T12:00Z', 'UTC'), [
    '2026-03-31T03:00Z',
    '2026-05-31T03:00Z',
  ]);
  t.deepEqual(times({ hour: 3, day: 'last' }, '2026-01-31T12:00Z', 'UTC'), [
    '2026-02-28T03:00Z',
    '2026-03-31T03:00Z',
  ]);
});

test('runs a skipped local time at the change to daylight saving', (t) => {
  // In Berlin clocks go from 02:00 to 03:00 on 29 March 2026, at 01:00 UTC.
  t.deepEqual(times({ hour: 2, minute: 30 }, '2026-03-28T12:00Z', 'Europe/Berlin'), [
    '2026-03-29T01:00Z',
    '2026-03-30T00:30Z',
  ]);
  // In Beirut midnight itself is skipped.
  t.deepEqual(times({ hour: 0 }, '2024-03-30T12:00Z', 'Asia/Beirut'), [
    '2024-03-30T22:00Z',
    '2024-03-31T21:00Z',
  ]);
  // On Lord Howe the jump is half an hour.
  t.deepEqual(times('15 2 * * *', '2026-10-03T12:00Z', 'Australia/Lord_Howe', 1), ['2026-10-03T15:30Z']);
});

test('runs a repeated local time once; an unspecified hour runs in both', (t) => {
  t.deepEqual(times({ hour: 2, minute: 30 }, '2026-10-24T12:00Z', 'Europe/Berlin'), [
    '2026-10-25T00:30Z',
    '2026-10-26T01:30Z',
  ]);
  t.deepEqual(times({ minute: 30 }, '2026-10-25T00:00Z', 'Europe/Berlin', 3), [
    '2026-10-25T00:30Z',
    '2026-10-25T01:30Z',
    '2026-10-25T02:30Z',
  ]);
  t.deepEqual(times({ hour: 0 }, '2024-10-26T12:00Z', 'Asia/Beirut'), [
    '2024-10-26T22:00Z',
    '2024-10-27T22:00Z',
  ]);
});

test('rejects unusable times, with the reason', (t) => {
  const wrong: [unknown, RegExp][] = [
    [{ hour: 24 }, /its hour must be a whole number from 0 to 23, and is 24/],
    [{ minute: 1.5 }, /its minute must/],
    [{ day: 0 }, /its day must/],
    [{ weekday: 'Sunday' }, /its weekday must be one of sunday, .*, and is "Sunday"/],
    [{ weekday: 'sunday', day: 1 }, /give one/],
    [{ hours: 4 }, /has no "hours"/],
    ['61 4 * * *', /Invalid value for minute: 61/],
    ['4:30', /five fields/],
    ['* * * * * *', /five fields/],
    ['@daily', /five fields/],
    ['2026-01-01T00:00:00 * * * *', /five fields/],
    ['0 0 30 2 *', /never comes/],
    ['', /five fields/],
    [`${'1,'.repeat(100)}1 * * * *`, /more than 100 characters/],
    [null, /must be a text like/],
    [5, /must be a text like/],
  ];
  for (const [at, message] of wrong) t.throws(() => calendar(at as string), { message }, JSON.stringify(at));
});

test('a timetable accepts a duration, every or at, and nothing else', (t) => {
  t.is(timetable('5s').everyMs, 5_000);
  t.is(timetable({ every: '5m', jitter: '30s' }).jitterMs, 30_000);
  t.is(timetable({ every: '5m', jitter: '30s' }).text, 'every 5m, up to 30s later');
  t.is(timetable({ at: { hour: 4, minute: 5, weekday: 'sunday' } }).text, 'at 04:05 each sunday');
  t.is(timetable({ at: { hour: 4, day: 'last' } }).text, 'at 04:00 on the last day of the month');
  t.is(timetable({ at: { minute: 7, day: 3 } }).text, 'at minute 7 of each hour on day 3 of the month');
  for (const none of [undefined, null, 5])
    t.throws(() => timetable(none as never), { message: /^it needs a time, as in job\(/ });
  t.is(timetable({ at: '0 4 * * *', zone: 'Asia/Tokyo' }).text, 'at 0 4 * * * in Asia/Tokyo');
  const tokyo = timetable({ at: { hour: 4 }, zone: 'Asia/Tokyo' });
  t.is(
    tokyo.next(Date.UTC(2026, 0, 15), 'Europe/Berlin'),
    Date.UTC(2026, 0, 15, 19),
    'its own zone takes precedence',
  );
  const wrong: [unknown, RegExp][] = [
    [{}, /either every or at/],
    [{ every: '5s', at: '* * * * *' }, /either every or at/],
    [{ every: '5s', zone: 'UTC' }, /a zone needs an at/],
    [{ at: '* * * * *', zone: 'Mars/Olympus' }, /"Mars\/Olympus" is not an IANA time zone/],
    [{ every: '5s', jitter: '6s' }, /its jitter of 6s is longer than 5s/],
    [{ every: '5s', jitter: 'some' }, /"some" is not a valid duration/],
    [{ at: '* * * * *', zoen: 'UTC' }, /"zoen" is unknown; use every/],
    [{ at: '99 * * * *' }, /its "at" cannot be used: .*99/],
  ];
  for (const [when, message] of wrong)
    t.throws(() => timetable(when as string), { message }, JSON.stringify(when));
});
