// Which changes an address asks for, and what of a change is shown.
import test from 'ava';
import { auditQueryOf, changedFields, conflictsOf, PAGE_SIZE } from '../page/system/audit-query.js';
import { auditViewOf, isFiltered } from '../page/system/audit-view.js';

const HOUR = 3_600_000;
const moment = { now: Date.UTC(2026, 10, 29, 12), zone: 'Asia/Tehran' };

test('what an address says wrong is left out', (t) => {
  const wrong = { area: 'x'.repeat(33), kind: 'eaten', who: '  ', name: 7, hours: '2', from: '2026-02-30' };
  t.false(isFiltered(auditViewOf({ ...wrong, until: 'soon', other: 'x' })));
  const view = auditViewOf({ area: 'client', kind: 'deleted', who: ' root ', name: 'ann', hours: '24' });
  t.like(view, { area: 'client', kind: 'deleted', who: 'root', name: 'ann', hours: '24' });
  t.true(isFiltered(view));
});

test('hours take the place of days', (t) => {
  const view = auditViewOf({ hours: '24', from: '2026-11-01', until: '2026-11-02' });
  t.deepEqual(auditQueryOf(view, moment), { limit: PAGE_SIZE, from: moment.now - 24 * HOUR });
});

test('days begin and end in the zone of the reader', (t) => {
  const view = auditViewOf({ from: '2026-11-01', until: '2026-11-01' });
  const start = Date.parse('2026-11-01T00:00:00+03:30');
  t.deepEqual(auditQueryOf(view, moment, 77), {
    limit: PAGE_SIZE,
    from: start,
    to: start + 24 * HOUR,
    before: 77,
  });
  // A day with 25 hours.
  const berlin = auditQueryOf(auditViewOf({ from: '2026-10-25', until: '2026-10-25' }), {
    ...moment,
    zone: 'Europe/Berlin',
  });
  t.is((berlin.to ?? 0) - (berlin.from ?? 0), 25 * HOUR);
  // The API takes no time before 1970.
  t.is(auditQueryOf(auditViewOf({ from: '0001-01-01' }), moment).from, 0);
});

test('values before and after are texts, and blank where there was none', (t) => {
  t.deepEqual(changedFields({ enable: [true, false], comment: [null, 'pays'], limitIp: [0, 3] }), [
    { path: 'enable', before: 'true', after: 'false' },
    { path: 'comment', before: '', after: 'pays' },
    { path: 'limitIp', before: '0', after: '3' },
  ]);
});

test('fields that were changed since are read from the reply; anything else has none', (t) => {
  const conflicts = [{ id: '1', name: 'ann', fields: { comment: ['one', 'two'] } }];
  t.deepEqual(conflictsOf({ conflicts, count: 1 }), [
    { name: 'ann', fields: [{ path: 'comment', before: 'one', after: 'two' }] },
  ]);
  for (const reply of [null, undefined, 'x', {}, { conflicts: 'x' }]) t.deepEqual(conflictsOf(reply), []);
});
