// Two admins change one record: what differs, and what is saved after the choice.
import test from 'ava';
import { conflictsOf, merged, mergedIds, onlyTheirs } from '../page/parts/conflict.js';

const before = { name: 'ann', quota: '10', note: 'old', days: '' };

test('only a field that both have changed to different texts is a conflict', (t) => {
  const mine = { ...before, quota: '20', note: 'same', name: 'anna' };
  const theirs = { ...before, quota: '30', note: 'same', days: '7' };
  t.deepEqual(conflictsOf(before, mine, theirs), [
    { field: 'quota', before: '10', mine: '20', theirs: '30' },
  ]);
  t.deepEqual(onlyTheirs(before, mine, theirs), ['days']);
});

test('what one of both has changed is kept of both, and a conflict goes as the reader says', (t) => {
  const mine = { ...before, quota: '20', name: 'anna' };
  const theirs = { ...before, quota: '30', days: '7' };
  t.deepEqual(merged(before, mine, theirs, {}), { name: 'anna', quota: '20', note: 'old', days: '7' });
  t.deepEqual(merged(before, mine, theirs, { quota: 'theirs' }), {
    name: 'anna',
    quota: '30',
    note: 'old',
    days: '7',
  });
});

test('a text that was blanked stays blank', (t) => {
  const mine = { ...before, note: '' };
  t.is(merged(before, mine, { ...before, quota: '30' }, {}).note, '');
  t.deepEqual(conflictsOf(before, mine, { ...before, note: 'theirs' })[0]?.mine, '');
});

test('ids that I added and removed are added and removed in what is there now', (t) => {
  t.deepEqual(mergedIds([1, 2], [2, 3], [1, 2, 4]), [2, 4, 3]);
  t.deepEqual(mergedIds([1], [1], [5]), [5]);
  t.deepEqual(mergedIds([], [5], [5]), [5]);
});
