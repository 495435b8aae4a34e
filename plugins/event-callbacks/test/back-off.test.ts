// When failed attempts are repeated, and which addresses are refused.
import test from 'ava';
import { afterFailure, askedPause, isDue, LATEST_MS } from '../back-off.js';
import { callbackUrlProblem } from '../callback-url.js';

const now = Date.UTC(2026, 0, 15, 12);
const HOUR_MS = 3_600_000;
const failure = { now, attempts: 1, firstAt: now, failures: 1, lastDeliveredAt: 0, status: 500, askedMs: 0 };

test('Retry-After is seconds or a date', (t) => {
  t.is(askedPause('120', now), 120_000);
  t.is(askedPause(new Date(now + 90_000).toUTCString(), now), 90_000);
  for (const nothing of [null, '', '0', '-5', 'soon', '1e9', new Date(now - 1_000).toUTCString()])
    t.is(askedPause(nothing, now), 0, String(nothing));
});

test('no pause is longer than the one that counts as due', (t) => {
  for (let attempts = 1; attempts < 40; attempts++)
    for (const status of [0, 500]) {
      const asked = { ...failure, attempts, failures: attempts, status, askedMs: 999_999 * HOUR_MS };
      const { pausedUntil, dueAt = now } = afterFailure(asked);
      t.true(pausedUntil >= now + 6 * HOUR_MS && pausedUntil < now + LATEST_MS);
      t.true(dueAt < now + LATEST_MS);
    }
  t.deepEqual([isDue(now, now), isDue(now + 1, now), isDue(now + LATEST_MS + 1, now)], [true, false, true]);
});

test('an event is given up only while the endpoint takes others', (t) => {
  const last = { ...failure, attempts: 15, failures: 1 };
  t.is(afterFailure({ ...last, lastDeliveredAt: now + 1 }).dueAt, undefined);
  t.not(afterFailure({ ...last, lastDeliveredAt: now - 1 }).dueAt, undefined);
});

test('an address is http or https, without a user, a password or a fragment', (t) => {
  t.is(callbackUrlProblem('https://a.example/hook?key=1'), undefined);
  for (const wrong of ['ftp://a.example', 'https:a.example', 'https:///a', 'a.example', ''])
    t.regex(callbackUrlProblem(wrong) ?? '', /https:\/\/ or http:\/\//, wrong);
  t.regex(callbackUrlProblem('https://u@a.example') ?? '', /no user name/);
  t.regex(callbackUrlProblem('https://a.example/#x') ?? '', /no fragment/);
});
