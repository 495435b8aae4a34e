// What the roster does with changes that other tests cannot bring about at will.
import test from 'ava';
import type { Database } from '../../../kernel/index.js';
import { Roster } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import { row } from './row.js';

const MAX = Number.MAX_SAFE_INTEGER;
async function rosterOf(...added: ClientRow[]): Promise<Roster> {
  const roster = new Roster();
  await roster.apply({ added });
  return roster;
}

test('all clients are loaded, however many a SELECT gives at once', async (t) => {
  for (const total of [0, 10_000, 10_001]) {
    const stored = Array.from({ length: total }, (_, i) => ({ ...row(i + 1), inboundIds: '1' }));
    const asked: number[] = [];
    const query = async (statement: string, { from, count }: { from: number; count: number }) => {
      if (statement.includes('client_credentials')) return [];
      asked.push(from);
      return stored.slice(from, from + count);
    };
    const roster = await Roster.load({ query, sql: { least: 'min' } } as unknown as Database);
    t.is(roster.size, total);
    t.is(roster.ordered('email').length, total);
    t.deepEqual(asked, total < 10_000 ? [0] : [0, 10_000]);
  }
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

test('one edit may attach and detach', async (t) => {
  const roster = await rosterOf(row(1, { inboundIds: [1, 2] }));
  await roster.apply({ edited: [{ id: 1, fields: {}, attach: [3], detach: [1] }] });
  t.deepEqual(roster.byId(1)?.inboundIds, [2, 3]);
});

test('what was computed from the clients is out of date after each change, and after nothing else', async (t) => {
  const roster = await rosterOf(...Array.from({ length: 40 }, (_, i) => row(i + 1)));
  const moved = async (change: Parameters<Roster['apply']>[0]): Promise<string> => {
    const { editsVersion: edits, countsVersion: counts } = roster;
    await roster.apply(change);
    return `${roster.editsVersion > edits ? 'edits' : ''} ${roster.countsVersion > counts ? 'counts' : ''}`.trim();
  };
  t.is(await moved({ added: [row(90)] }), 'edits', 'one');
  t.is(await moved({ added: [91, 92, 93, 94, 95].map((id) => row(id)) }), 'edits', 'many');
  t.is(await moved({ edited: [{ id: 1, fields: { comment: 'x' } }] }), 'edits');
  t.is(await moved({ deletedInbounds: [1] }), 'edits');
  t.is(await moved({ deleted: [90] }), 'edits', 'one');
  t.is(await moved({ deleted: [91, 92, 93, 94, 95] }), 'edits', 'many');
  t.is(await moved({ usage: [{ clientId: 1, inboundId: 1, up: 1, down: 0 }], at: 1 }), 'counts');
  t.is(await moved({ fetches: [[1, 60]] }), '');
});
