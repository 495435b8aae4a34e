import test from 'ava';
import { type Entry, matching, moved } from '../page/palette/entries.js';

const entry = (text: string): Entry => ({ id: text, kind: 'page', text });

test('all words must be there, and what begins with the first comes first', (t) => {
  const all = ['New client', 'Clients', 'Résumé', 'Client pages'].map(entry);
  const texts = (typed: string) => matching(all, typed).map(({ text }) => text);
  t.deepEqual(texts('client'), ['Clients', 'Client pages', 'New client']);
  t.deepEqual(texts('cli NEW'), ['New client']);
  t.deepEqual(texts('resume'), ['Résumé']);
  t.deepEqual(texts('nothing'), []);
  t.is(texts(' ').length, 4);
});

test('arrows go around both ends', (t) => {
  t.is(moved('ArrowDown', 2, 3), 0);
  t.is(moved('ArrowUp', 0, 3), 2);
  t.is(moved('ArrowDown', 0, 0), undefined);
  t.is(moved('x', 1, 3), undefined);
});
