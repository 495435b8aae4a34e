// Every order of the paged list, after every kind of change: what is kept between calls shows what a fresh sort of all
// clients would.
import test from 'ava';
import { random } from '../../../test/harness/random.js';
import { Orders } from '../lists/orders.js';
import { emailKey } from '../model/fields.js';
import { Roster, type RosterChange } from '../model/roster.js';
import type { ClientRow } from '../model/row.js';
import { row } from './row.js';

type Key = (row: ClientRow) => number | string;
const NEVER = Infinity;
const KEYS: Readonly<Record<string, Key>> = {
  enable: ({ enable }) => Number(enable),
  inboundIds: ({ inboundIds }) => inboundIds.length,
  traffic: ({ up, down }) => up + down,
  remaining: ({ totalGB, up, down }) => (totalGB > 0 ? totalGB - up - down : NEVER),
  expiryTime: ({ expiryTime }) => (expiryTime > 0 ? expiryTime : NEVER),
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  lastOnline: ({ lastOnline }) => lastOnline,
  email: ({ email }) => emailKey(email),
  '': ({ id }) => id,
};
/** Equal values are in the order of ids there, whatever the direction. */
const TIES_ASCEND = new Set(['enable', 'inboundIds', 'traffic', 'remaining', 'expiryTime']);

function sorted(rows: readonly ClientRow[], sort: string, descending: boolean): ClientRow[] {
  const key = KEYS[sort] as Key;
  const sign = descending ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x !== y) return x < y ? -sign : sign;
    return TIES_ASCEND.has(sort) ? a.id - b.id : sign * (a.id - b.id);
  });
}

test('every order, filtered or not, and each of its pages follow every kind of change', async (t) => {
  const { below, pick } = random(41);
  const roster = new Roster();
  const orders = new Orders({ roster });
  let last = 0;
  const fields = () => ({
    enable: below(2) === 0,
    totalGB: below(3) * 10,
    expiryTime: below(4) * 7 - 7,
    comment: `note ${below(5)}`,
  });
  const fresh = (count: number): ClientRow[] =>
    Array.from({ length: count }, () =>
      row(++last, {
        ...fields(),
        email: `${below(2) ? 'u' : 'U'}${below(1000)}-${last}`,
        createdAt: below(4),
        updatedAt: below(4),
        inboundIds: [1, 2, 3].slice(below(4)),
        lastOnline: below(3),
      }),
    );
  const ids = (): number[] => roster.ordered('id').map(({ id }) => id);
  const some = (most: number): number[] => [...new Set(Array.from({ length: most }, () => pick(ids()) ?? 0))];
  const use = () => some(4).map((clientId) => ({ clientId, inboundId: 1, up: below(9), down: below(3) }));
  const changes: readonly (() => RosterChange)[] = [
    () => ({ added: fresh(1) }),
    () => ({ added: fresh(20) }),
    () => ({ deleted: some(1) }),
    () => ({ deleted: some(20) }),
    // As many come as go.
    () => ({ added: fresh(1), deleted: some(1) }),
    () => ({ added: fresh(17), deleted: ids().slice(-17) }),
    () => ({ edited: [{ id: pick(ids()) ?? 0, fields: { email: `u${below(1000)}-x${++last}` } }] }),
    () => ({ edited: some(3).map((id) => ({ id, fields: { ...fields(), updatedAt: below(4) } })) }),
    () => ({ edited: [{ id: pick(ids()) ?? 0, fields: {}, attach: [below(3) + 1], detach: [4] }] }),
    () => ({ usage: use(), at: below(20) }),
    () => ({ deletedInbounds: [below(3) + 1] }),
  ];
  await roster.apply({ added: fresh(40) });
  const known = new Set(ids());
  // Few enough at a time that their orders are kept from one round to the next.
  const names = Object.keys(KEYS);
  for (let round = 0; round < 20 * changes.length; round++) {
    const sorts = [0, 1].map(
      (i) => names[(Math.floor(round / (4 * changes.length)) * 2 + i) % names.length] ?? '',
    );
    const change = (changes[round % changes.length] as () => RosterChange)();
    await roster.apply(change);
    for (const { id } of change.added ?? []) known.add(id);
    for (const id of change.deleted ?? []) known.delete(id);
    t.deepEqual(
      ids(),
      [...known].sort((a, b) => a - b),
    );
    const rows = [...roster.ordered('id')];
    const marks = Uint8Array.from(rows, () => below(3) && 1);
    const passing = rows.filter((_, place) => marks[place] === 1);
    for (const sort of sorts)
      for (const order of ['ascend', 'descend']) {
        const [from, count] = [below(4) * 12, 12];
        for (const [given, expected] of [
          [undefined, rows],
          [marks, passing],
        ] as const) {
          const found = orders.slice(sort, order, given, from, count);
          t.is(found.count, expected.length);
          t.deepEqual(
            found.rows.map(({ id }) => id),
            sorted(expected, sort, order === 'descend')
              .slice(from, from + count)
              .map(({ id }) => id),
            `round ${round}, ${sort} ${order}${given ? ' filtered' : ''} from ${from}`,
          );
        }
      }
  }
  t.true(roster.size > 10);
});

test('the last page by id, backwards, has what is left', async (t) => {
  const roster = new Roster();
  await roster.apply({ added: [1, 2, 3, 4, 5].map((id) => row(id)) });
  const page = (from: number): number[] =>
    new Orders({ roster }).slice('', 'descend', undefined, from, 2).rows.map(({ id }) => id);
  t.deepEqual([page(0), page(2), page(4), page(6)], [[5, 4], [3, 2], [1], []]);
});
