// What the roster does with changes that other tests cannot bring about at will.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { Roster } from '../model/roster.js';
import { RowIndex } from '../model/row-index.js';
import { type ClientRow, storedNames } from '../model/row.js';
import { clientVersion } from '../model/version.js';
import { row } from './row.js';

const MAX = Number.MAX_SAFE_INTEGER;
async function rosterOf(...added: ClientRow[]): Promise<Roster> {
  const roster = new Roster();
  await roster.apply({ added });
  return roster;
}

/** A client as the roster's SELECT gives it. */
function selected(client: ClientRow): { id: number; stored: string } {
  const values: Record<string, unknown> = { ...client, inboundIds: client.inboundIds.join() };
  return { id: client.id, stored: JSON.stringify(storedNames.map((name) => values[name])) };
}

test('all clients are loaded, however many a SELECT gives at once', async (t) => {
  for (const total of [0, 250, 251]) {
    const stored = Array.from({ length: total }, (_, i) => selected(row(i + 1)));
    const asked: number[] = [];
    const query = async (statement: string, { from, count }: { from: number; count: number }) => {
      if (statement.includes('client_credentials')) return [];
      asked.push(from);
      return stored.slice(from, from + count);
    };
    const roster = await Roster.load({ query, sql: { least: 'min' } } as unknown as Database);
    t.is(roster.size, total);
    t.is(roster.ordered('email').length, total);
    t.deepEqual(asked, total < 250 ? [0] : [0, 250]);
  }
});

test('clients are in the order of their emails after a load, in any case', async (t) => {
  const emails = ['b@x', 'C@x', 'a@x', 'D@x'];
  const stored = emails.map((email, i) => selected(row(i + 1, { email })));
  const query = async (statement: string) => (statement.includes('client_credentials') ? [] : stored);
  const roster = await Roster.load({ query, sql: { least: 'min' } } as unknown as Database);
  t.deepEqual(
    roster.ordered('email').map(({ email }) => email),
    ['a@x', 'b@x', 'C@x', 'D@x'],
  );
});

test('counters stop at the greatest number that JSON transports exactly, each for itself', async (t) => {
  const roster = await rosterOf(row(1));
  await roster.apply({ usage: [{ clientId: 1, inboundId: 1, up: MAX, down: 7 }], at: 9 });
  await roster.apply({ usage: [{ clientId: 1, inboundId: 1, up: 10, down: MAX }], at: 8 });
  const { up, down, lastOnline } = roster.byId(1) ?? {};
  t.deepEqual([up, down, lastOnline], [MAX, MAX, 9]);
});

test('a fetch that was written later than a newer one does not undo it', async (t) => {
  const roster = await rosterOf(row(1, { lastSubFetch: 50 }));
  await roster.apply({ fetches: [[1, 40]] });
  t.is(roster.byId(1)?.lastSubFetch, 50);
  await roster.apply({ fetches: [[1, 60]] });
  t.is(roster.byId(1)?.lastSubFetch, 60);
});

test('a version that was shown changes with each edit, and with no counter', async (t) => {
  const roster = await rosterOf(row(1, { inboundIds: [1, 2] }));
  const versions = new Set<string>();
  const isNew = async (change: Parameters<Roster['apply']>[0]): Promise<boolean> => {
    await roster.apply(change);
    const shown = clientVersion.of(roster.byId(1) as ClientRow);
    const wasNew = !versions.has(shown);
    versions.add(shown);
    return wasNew;
  };
  const made = (password: string) => new Map([[1, { password }]]);
  t.true(await isNew({}));
  t.true(await isNew({ edited: [{ id: 1, fields: { comment: 'other' } }] }));
  t.true(await isNew({ edited: [{ id: 1, fields: { email: 'other@x' } }] }));
  t.true(await isNew({ edited: [{ id: 1, fields: {}, attach: [3] }] }));
  t.true(await isNew({ edited: [{ id: 1, fields: {}, credentials: made('a') }] }));
  t.true(await isNew({ renewed: { inboundId: 1, credentials: made('b') } }));
  t.true(await isNew({ deletedInbounds: [2] }));
  t.false(await isNew({ usage: [{ clientId: 1, inboundId: 1, up: 5, down: 5 }], at: 9 }));
  t.false(await isNew({ fetches: [[1, 60]] }));
});

test('one edit may attach and detach', async (t) => {
  const roster = await rosterOf(row(1, { inboundIds: [1, 2] }));
  await roster.apply({ edited: [{ id: 1, fields: {}, attach: [3], detach: [1] }] });
  t.deepEqual(roster.byId(1)?.inboundIds, [2, 3]);
});

test('what was computed from the clients is out of date after each change, and after nothing else', async (t) => {
  const roster = await rosterOf(...Array.from({ length: 40 }, (_, i) => row(i + 1)));
  const moved = async (change: Parameters<Roster['apply']>[0]): Promise<string> => {
    const [edits, changes] = [roster.journals.edits.at, roster.journals.all.at];
    await roster.apply(change);
    return `${roster.journals.edits.at > edits ? 'edits' : ''} ${roster.journals.all.at > changes ? 'changes' : ''}`.trim();
  };
  t.is(await moved({ added: [row(90)] }), 'edits changes', 'one');
  const many = Array.from({ length: 20 }, (_, i) => 91 + i);
  t.is(await moved({ added: many.map((id) => row(id)) }), 'edits changes', 'many');
  t.is(await moved({ edited: [{ id: 1, fields: { comment: 'x' } }] }), 'edits changes');
  t.is(await moved({ deletedInbounds: [1] }), 'edits changes');
  t.is(await moved({ deleted: [90] }), 'edits changes', 'one');
  t.is(await moved({ deleted: many }), 'edits changes', 'many');
  t.is(await moved({ usage: [{ clientId: 1, inboundId: 1, up: 1, down: 0 }], at: 1 }), 'changes');
  t.is(await moved({ fetches: [[1, 60]] }), '');
});

test('lists stay sorted however many come and go at once, and many do not shift a list one by one', async (t) => {
  const roster = await rosterOf();
  let last = 0;
  const email = (id: number) => `${(id * 7919) % 1000 < 500 ? 'C' : 'c'}${(id * 7919) % 1_000_003}`;
  for (const [added, deleted] of [
    [300, 0],
    [1, 1],
    [40, 200],
    [200, 40],
    [0, 100],
    [16, 0],
    [17, 0],
    [0, 17],
    [3, 214],
  ] as const) {
    const present = roster.ordered('id').map(({ id }) => id);
    const gone = present.filter((id) => (id * 31) % present.length < deleted).slice(0, deleted);
    const rows = Array.from({ length: added }, () => row(++last, { email: email(last) }));
    const before = [roster.ordered('id'), roster.ordered('email')];
    await roster.apply({ added: rows, deleted: gone });
    const expected = [...present.filter((id) => !gone.includes(id)), ...rows.map(({ id }) => id)];
    t.deepEqual(
      roster.ordered('id').map(({ id }) => id),
      expected.toSorted((a, b) => a - b),
    );
    const key = (id: number) => email(id).toLowerCase();
    t.deepEqual(
      roster.ordered('email').map(({ id }) => id),
      expected.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
    );
    const isMany = added + gone.length > 16;
    t.is(roster.ordered('id') !== before[0], isMany);
    t.is(roster.ordered('email') !== before[1], isMany);
  }
});

test('who is deleted is found by nothing, alone or among many, and leaves its values to others', async (t) => {
  const roster = await rosterOf(
    ...Array.from({ length: 60 }, (_, i) => row(i + 1, i === 59 ? { comment: 'last one' } : {})),
  );
  const first = roster.byId(1);
  for (const ids of [[1], Array.from({ length: 40 }, (_, i) => i + 10)]) {
    t.is(roster.search.marks(roster.ordered('id'), 'last one').indexOf(1), roster.size - 1);
    await roster.apply({ deleted: ids });
    for (const id of ids)
      t.deepEqual(
        [roster.byId(id), roster.byEmail(`c${id}`), roster.owner('email', `c${id}`)],
        [undefined, undefined, undefined],
      );
    t.is(roster.bySubId(first?.subId ?? ''), undefined);
    t.is(roster.search.marks(roster.ordered('id'), 'last one').indexOf(1), roster.size - 1);
  }
  await roster.apply({ added: [row(70, { email: 'C1' })] });
  t.is(roster.byEmail('c1')?.id, 70);
});

test('an edit of other fields leaves the maps alone by which clients are found', async (t) => {
  const roster = await rosterOf(row(1, { group: 'g' }), row(2, { group: 'g' }));
  const { set: setInMap } = Map.prototype;
  const { set } = RowIndex.prototype;
  let count = 0;
  Map.prototype.set = function (this: Map<unknown, unknown>, ...given) {
    if (typeof given[0] === 'string') count += 1;
    return setInMap.apply(this, given);
  };
  RowIndex.prototype.set = function (this: RowIndex, ...given) {
    count += 1;
    set.apply(this, given);
  };
  // Synchronous up to its end: no other work sets anything meanwhile.
  const applied = roster.apply({
    edited: [1, 2].map((id) => ({ id, fields: { comment: 'c', totalGB: 5 } })),
  });
  Map.prototype.set = setInMap;
  RowIndex.prototype.set = set;
  await applied;
  t.is(count, 0);
  t.deepEqual([roster.byId(2)?.comment, roster.byId(2)?.totalGB, roster.groups.idsOf('g').size], ['c', 5, 2]);
  await roster.apply({ edited: [{ id: 2, fields: { group: 'h', subId: 'new' } }] });
  t.deepEqual([[...roster.groups.idsOf('g')], [...roster.groups.idsOf('h')]], [[1], [2]]);
  t.is(roster.bySubId('new')?.id, 2);
});
