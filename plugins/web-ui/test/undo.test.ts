// What a notice undoes: only what this reader has just done.
import test from 'ava';
import { entriesOf } from '../page/parts/undo-entries.js';

const change = (id: number, entry: number, more: object = {}) => ({
  id,
  entry,
  who: 'admin',
  whoKind: 'session',
  undoable: true,
  ...more,
});

test('entries since then are undone, the newest first, each once', (t) => {
  t.deepEqual(entriesOf([change(9, 5), change(8, 4), change(7, 4), change(6, 3)], 6, 'admin'), [5, 4]);
  t.deepEqual(entriesOf([change(6, 3)], 6, 'admin'), []);
});

test('what others or plugins did meanwhile stays', (t) => {
  const others = [change(9, 5, { who: 'eve' }), change(8, 4, { whoKind: 'plugin' }), change(7, 3)];
  t.deepEqual(entriesOf(others, 6, 'admin'), [3]);
});

test('nothing is offered if a part of it cannot be undone', (t) => {
  t.deepEqual(entriesOf([change(9, 5, { undoable: false }), change(8, 4)], 7, 'admin'), []);
});
