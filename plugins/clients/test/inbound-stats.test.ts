// The clients in a reply about inbounds, read while it is sent.
import test from 'ava';
import type { LongList } from '../../../kernel/index.js';
import { clientsOf } from '../lists/inbound-clients.js';
import type { ShownUsage } from '../lists/shown-usage.js';
import type { Roster } from '../model/roster.js';
import { row as rowOf } from './row.js';

const shown = { raise: (record: unknown) => record } as ShownUsage;
const itemsOf = <T>(list: LongList<T>): readonly T[] => list.toJSON() as T[];

test('reads a client once for the inbound that is shown, and not for its other inbounds', (t) => {
  let read = 0;
  const row = Object.defineProperty(rowOf(1, { inboundIds: [1, 2, 3] }), 'up', {
    get: () => {
      read++;
      return 5;
    },
  });
  const roster = { ordered: () => [row] } as unknown as Roster;
  t.is(itemsOf(clientsOf(2, 'list', roster, shown).stats).length, 1);
  t.is(read, 1);
});

test('a list that the reply leaves out reads no client', (t) => {
  const roster = {
    ordered: () => {
      throw new Error('the clients were read');
    },
  } as unknown as Roster;
  const { stats } = clientsOf(2, 'list', roster, shown);
  t.throws(() => itemsOf(stats), { message: 'the clients were read' });
});
