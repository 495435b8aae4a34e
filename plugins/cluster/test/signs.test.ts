// Which panels live is said by signs that change, whatever the clocks of the database servers say.
import test from 'ava';
import { Signs } from '../roll.js';

const HOUR = 3_600_000;
const row = (name: string, sign: number, isRecent = 1) => ({ name, version: '0.1.0', sign, isRecent });
const names = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

test('a panel lives for ten seconds after its sign has changed', (t) => {
  const signs = new Signs();
  t.deepEqual(names(signs.living([row('a', 1), row('b', 1)], 0)), ['a', 'b']);
  t.deepEqual(names(signs.living([row('a', 2), row('b', 1)], 9_000)), ['a', 'b']);
  t.deepEqual(names(signs.living([row('a', 2), row('b', 1)], 10_000)), ['a']);
  t.deepEqual(names(signs.living([row('a', 2), row('b', 1)], 18_999)), ['a']);
  t.deepEqual(names(signs.living([row('a', 2), row('b', 2)], 19_000)), ['b']);
});

test('a sign of a server whose clock is an hour behind counts as soon as it changes', (t) => {
  const signs = new Signs();
  t.deepEqual(signs.living([row('behind', -HOUR, 0)], 0), []);
  t.deepEqual(names(signs.living([row('behind', 2_000 - HOUR, 0)], 2_000)), ['behind']);
});

test('a dead panel whose last sign is an hour ahead is dead after ten seconds', (t) => {
  const signs = new Signs();
  signs.living([row('ahead', HOUR)], 0);
  t.deepEqual(signs.living([row('ahead', HOUR)], 10_000), []);
});

test('a panel that was struck off and comes back counts as new', (t) => {
  const signs = new Signs();
  signs.living([row('a', 1)], 0);
  signs.living([], 20_000);
  t.deepEqual(names(signs.living([row('a', 2)], 21_000)), ['a']);
});
