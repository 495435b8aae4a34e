// Changes of very many clients reach memory in turns of the event loop: others are served in between, and see lists that are whole.
import test from 'ava';
import type { Principal } from '../../../kernel/index.js';
import { ClientWriter } from '../edits/client-writer.js';
import { newClient } from '../model/new-client.js';
import { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';

const COUNT = 30_000;

const row = (id: number): ClientRow => ({
  ...newClient(
    {
      email: `User${(id * 7919) % COUNT}@example`,
      subId: `s${id}`,
      uuid: `u${id}`,
      password: `p${id}`,
    },
    0,
  ),
  id,
  inboundIds: [],
  credentials: null,
  up: 0,
  down: 0,
  lastOnline: 0,
  lastSubFetch: 0,
});
const isSorted = (keys: readonly (string | number)[]) =>
  keys.every((key, i) => i === 0 || (keys[i - 1] as string | number) < key);

/** How often the event loop went round until the work was done; at each turn `look` looks. */
async function turnsDuring(work: Promise<void>, look: () => void): Promise<number> {
  let turns = 0;
  let over = false;
  const next = () => {
    if (over) return;
    turns++;
    look();
    setImmediate(next);
  };
  setImmediate(next);
  await work;
  over = true;
  return turns;
}

test('yields while clients are added, changed and removed', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: [row(COUNT)] });
  const rows = Array.from({ length: COUNT - 1 }, (_, i) => row(i + 1));
  const sizes = new Set<number>();
  const look = () => {
    const byEmail = roster.ordered('email').map(({ email }) => email.toLowerCase());
    sizes.add(byEmail.length);
    if (!isSorted(byEmail)) t.fail('the list by email is out of order');
  };

  t.true((await turnsDuring(roster.apply({ added: rows }), look)) > 0);
  t.deepEqual(
    [roster.size, roster.ordered('id').length, roster.ordered('email').length],
    [COUNT, COUNT, COUNT],
  );
  t.true(isSorted(roster.ordered('id').map(({ id }) => id)));
  t.deepEqual([...sizes], [1], 'a list shows all of a commit or nothing of it');

  const before = roster.journals.edits.at;
  const patches = rows.map(({ id }) => ({ id, fields: { comment: 'new' } }));
  t.true((await turnsDuring(roster.apply({ edited: patches }), look)) > 0);
  t.is(roster.journals.edits.at - before, patches.length);

  t.true((await turnsDuring(roster.apply({ deleted: rows.map(({ id }) => id) }), look)) > 0);
  t.deepEqual(
    [roster.size, roster.ordered('id').map(({ id }) => id), roster.ordered('email').map(({ id }) => id)],
    [1, [COUNT], [COUNT]],
  );
});

/** A client that takes as long as a slice to copy. */
function slow(id: number): ClientRow {
  const client = row(id);
  Object.defineProperty(client, 'comment', {
    enumerable: true,
    get: () => {
      for (const end = performance.now() + 11; performance.now() < end; );
      return '';
    },
  });
  return client;
}

test('yields while the edits of a call are planned and written', async (t) => {
  const hooks = { check: async () => undefined };
  const writer = new ClientWriter({
    hooks,
    clock: { now: () => 0 },
    groupStore: { shift: async () => undefined },
    credentials: { during: (work: () => unknown) => work(), release: async () => undefined },
    store: { change: () => undefined },
  } as unknown as ConstructorParameters<typeof ClientWriter>[0]);
  const who = { name: 'test', kind: 'session' } as unknown as Principal;
  const rows = Array.from({ length: 10 }, (_, i) => slow(i + 1));
  const edits = rows.map((client) => ({ row: client, fields: { group: 'g' } }));
  const planning = async (work: () => Promise<unknown>) =>
    turnsDuring(
      work().then(() => undefined),
      () => undefined,
    );
  // Ten of them; other tests of this process have their part of the slices.
  t.true((await planning(() => writer.plan({ edits }, who))) >= 4, 'edits are copied in turns');
  t.true((await planning(() => writer.plan({ deleted: rows }, who))) >= 4, 'deleted ones as well');
});
