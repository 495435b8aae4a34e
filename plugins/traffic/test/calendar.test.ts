import test from 'ava';
import { periodStart, type Schedule } from '../calendar.js';

const start = (schedule: Exclude<Schedule, 'never'>, now: string, zone = 'UTC', day = 1): string =>
  new Date(periodStart(schedule, day, Date.parse(now), zone)).toISOString().replace('.000Z', 'Z');

test('hours, days, weeks from Sunday, and months start by the local time of the zone', (t) => {
  t.is(start('hourly', '2026-03-10T12:34:56Z'), '2026-03-10T12:00:00Z');
  t.is(start('hourly', '2026-03-10T12:20:00Z', 'Asia/Kolkata'), '2026-03-10T11:30:00Z');
  t.is(start('daily', '2026-03-10T12:34:56Z'), '2026-03-10T00:00:00Z');
  t.is(start('daily', '2026-03-10T22:59:59Z', 'Europe/Berlin'), '2026-03-09T23:00:00Z');
  t.is(
    start('daily', '2026-03-10T23:00:00Z', 'Europe/Berlin'),
    '2026-03-10T23:00:00Z',
    'the moment itself belongs to the new day',
  );
  t.is(start('daily', '2026-03-10T03:00:00Z', 'America/New_York'), '2026-03-09T04:00:00Z');
  t.is(start('weekly', '2026-03-14T23:59:59Z'), '2026-03-08T00:00:00Z');
  t.is(start('weekly', '2026-03-15T00:00:00Z'), '2026-03-15T00:00:00Z');
  t.is(start('monthly', '2026-03-10T12:00:00Z', 'UTC', 1), '2026-03-01T00:00:00Z');
  t.is(start('monthly', '2026-03-10T12:00:00Z', 'UTC', 11), '2026-02-11T00:00:00Z');
  t.is(start('monthly', '2026-01-05T12:00:00Z', 'UTC', 10), '2025-12-10T00:00:00Z');
});

test('in a shorter month, the last day counts', (t) => {
  t.is(start('monthly', '2026-02-28T12:00:00Z', 'UTC', 31), '2026-02-28T00:00:00Z');
  t.is(start('monthly', '2026-03-30T12:00:00Z', 'UTC', 31), '2026-02-28T00:00:00Z');
  t.is(start('monthly', '2026-03-31T12:00:00Z', 'UTC', 31), '2026-03-31T00:00:00Z');
  t.is(start('monthly', '2028-02-29T00:00:00Z', 'UTC', 30), '2028-02-29T00:00:00Z');
});

test('a midnight that daylight saving skips is the moment of the jump', (t) => {
  // In Beirut clocks go from 23:59:59 on Saturday to 01:00 on Sunday.
  t.is(start('daily', '2024-03-31T10:00:00Z', 'Asia/Beirut'), '2024-03-30T22:00:00Z');
  t.is(start('weekly', '2024-03-31T10:00:00Z', 'Asia/Beirut'), '2024-03-30T22:00:00Z');
  t.is(start('monthly', '2024-03-31T10:00:00Z', 'Asia/Beirut', 31), '2024-03-30T22:00:00Z');
});

test('a local time that daylight saving repeats counts once', (t) => {
  // In Berlin 02:00 to 03:00 comes twice; the first one began at 00:00 UTC.
  t.is(start('hourly', '2026-10-25T00:30:00Z', 'Europe/Berlin'), '2026-10-25T00:00:00Z');
  t.is(start('hourly', '2026-10-25T01:30:00Z', 'Europe/Berlin'), '2026-10-25T00:00:00Z');
  t.is(start('hourly', '2026-10-25T02:30:00Z', 'Europe/Berlin'), '2026-10-25T02:00:00Z');
  // In Beirut midnight itself comes twice: clocks go from 23:59:59 back to 23:00.
  t.is(start('daily', '2024-10-26T20:30:00Z', 'Asia/Beirut'), '2024-10-25T21:00:00Z');
  t.is(start('daily', '2024-10-26T21:30:00Z', 'Asia/Beirut'), '2024-10-25T21:00:00Z');
  t.is(start('daily', '2024-10-26T22:30:00Z', 'Asia/Beirut'), '2024-10-26T22:00:00Z');
});

test('the zone of the machine needs no name', (t) => {
  const now = Date.parse('2026-03-10T12:34:56Z');
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  t.is(periodStart('daily', 1, now, undefined), midnight.getTime());
});
