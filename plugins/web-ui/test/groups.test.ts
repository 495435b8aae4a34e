// Whom a job on a group changes: never the clients of another group.
import test from 'ava';
import { whomOf } from '../page/clients/selection.js';
import { viewOf } from '../page/clients/view.js';
import {
  filterSelection,
  isExactFilter,
  membersOf,
  namedSelection,
  portions,
  shownGroups,
} from '../page/groups/members.js';

const group = (name: string, clientCount = 1) => ({ name, clientCount, trafficUsed: 0 });

test('the filter is used only where it finds this group and no other', (t) => {
  const names = ['night', 'day', 'Day', 'a,b', 'a', ' ', 'night '];
  t.true(isExactFilter('a', names));
  // The filter ignores case and spaces around a name, and takes commas apart.
  for (const name of ['day', 'Day', 'a,b', ' ', 'night']) t.false(isExactFilter(name, names), name);
  t.deepEqual(membersOf(group('a'), names), { kind: 'filter' });
  t.deepEqual(membersOf(group('a,b', 10_000), names), { kind: 'named' });
  t.deepEqual(membersOf(group('a,b', 10_001), names), { kind: 'none' });
});

test('a job takes the group by its filter, or its clients by their names', (t) => {
  t.deepEqual(whomOf(filterSelection, viewOf({ group: 'a' })), { filter: { group: 'a' } });
  t.deepEqual(whomOf(namedSelection(['ann', 'ben']), viewOf({ group: 'a,b' })), { emails: ['ann', 'ben'] });
  t.deepEqual(whomOf(namedSelection([]), viewOf({ group: 'a,b' })), { emails: [] });
});

test('a search finds groups by each of its words, and says how many more there are', (t) => {
  const groups = [group('Night shift'), group('night'), group('day')];
  t.deepEqual(shownGroups(groups, 'NIGHT', 1), { shown: [groups[0]], more: 1 });
  t.deepEqual(shownGroups(groups, 'shift night', 9), { shown: [groups[0]], more: 0 });
  t.deepEqual(shownGroups(groups, '', 9), { shown: groups, more: 0 });
});

test('a long list is sent in portions, without losing anybody', (t) => {
  t.deepEqual(portions([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);
  t.deepEqual(portions([], 2), []);
});
