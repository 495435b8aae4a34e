// The text of many clients in one, in which searches look.
import test from 'ava';
import { Roster } from '../model/roster.js';
import { row } from './row.js';

const COUNT = 2000;
const clients = () =>
  Array.from({ length: COUNT }, (_, i) =>
    row(i * 3 + 1, { email: `User${i}@x`, uuid: `u-${i}`, comment: i % 7 ? '' : `note ${i}` }),
  );
const found = (roster: Roster, search: string): number[] => {
  const rows = roster.ordered('id');
  const marks = roster.search.marks(rows, search);
  return rows.filter((_, place) => marks[place] === 1).map(({ id }) => id);
};

test('finds what a look at each client finds, at the borders of blocks too', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: clients() });
  for (const search of ['user1', 'USER19', '@x', 'note 7', 'u-1999', 'no such']) {
    const expected = roster
      .ordered('id')
      .filter(({ email, uuid, comment }) =>
        [email, uuid, comment].some((value) => value.toLowerCase().includes(search.toLowerCase())),
      );
    t.deepEqual(
      found(roster, search),
      expected.map(({ id }) => id),
      search,
    );
  }
});

test('finds nothing across two clients', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: [row(1, { comment: 'end' }), row(2, { email: 'begin@x' })] });
  t.deepEqual(found(roster, 'end\0begin'), []);
  t.deepEqual(found(roster, '\0'), []);
});

test('follows edits, additions and deletions between searches', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: clients() });
  t.deepEqual(found(roster, 'fresh'), []);
  await roster.apply({ edited: [{ id: 301, fields: { comment: 'Fresh' } }] });
  t.deepEqual(found(roster, 'fresh'), [301]);
  await roster.apply({ added: [row(302, { comment: 'fresh too' })], deleted: [301] });
  t.deepEqual(found(roster, 'fresh'), [302]);
  // So many are merged in one pass.
  await roster.apply({ deleted: clients().map(({ id }) => id), added: [row(303, { comment: 'fresh' })] });
  t.deepEqual(found(roster, 'fresh'), [302, 303]);
});

test('a search while many clients are merged leaves no block of before', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: clients() });
  const deleted = clients().filter(({ id }) => id % 2 === 0);
  const merged = roster.apply({ deleted: deleted.map(({ id }) => id) });
  found(roster, 'user1');
  await merged;
  t.deepEqual(
    found(roster, 'user1'),
    clients().flatMap(({ id, email }) => (id % 2 === 1 && email.startsWith('User1') ? [id] : [])),
  );
});

/** Clients of which a look at the email takes as long as a slice; counts the looks. */
async function slowClients(count: number) {
  const roster = new Roster();
  await roster.apply({ added: Array.from({ length: count }, (_, i) => row(i * 512 + 1)) });
  let looks = 0;
  for (const client of roster.ordered('id')) {
    const { email } = client;
    Object.defineProperty(client, 'email', {
      get: () => {
        looks++;
        for (const end = performance.now() + 11; performance.now() < end; );
        return email;
      },
    });
  }
  return { roster, looks: () => looks };
}

test('prepare builds the text in slices, and leaves nothing for the search', async (t) => {
  const { roster, looks } = await slowClients(8);
  let rounds = 0;
  let next = setImmediate(function again() {
    rounds++;
    next = setImmediate(again);
  });
  await roster.search.prepare(() => roster.ordered('id'));
  clearImmediate(next);
  t.true(rounds >= 7, `the loop went round ${rounds} times`);
  const before = looks();
  t.deepEqual(found(roster, 'c513'), [513]);
  t.is(looks(), before);
});

test('prepare follows clients that come and go meanwhile', async (t) => {
  const { roster } = await slowClients(8);
  const prepared = roster.search.prepare(() => roster.ordered('id'));
  for (const id of [1, 1025, 2049]) {
    await new Promise(setImmediate);
    await roster.apply({ deleted: [id], added: [row(id + 1, { comment: 'fresh' })] });
  }
  await prepared;
  const fresh = new Roster();
  await fresh.apply({ added: roster.ordered('id').map((client) => ({ ...client })) });
  for (const search of ['fresh', 'c', 'c513', 'c1'])
    t.deepEqual(found(roster, search), found(fresh, search), search);
  t.deepEqual(found(roster, 'fresh'), [2, 1026, 2050]);
});
