// The reply with one inbound makes nothing for the others: a client may be attached to a hundred.
import test from 'ava';
import type { InboundView } from '../../inbounds/contract.js';
import { describe } from '../lists/inbound-stats.js';
import type { ShownUsage } from '../lists/shown-usage.js';
import type { Roster } from '../model/roster.js';
import { row as rowOf } from './row.js';

test('reads a client once for the inbound that is shown, and not for its other inbounds', (t) => {
  let read = 0;
  const row = Object.defineProperty(rowOf(1, { inboundIds: [1, 2, 3] }), 'up', {
    get: () => {
      read++;
      return 5;
    },
  });
  const roster = { ordered: () => [row] } as unknown as Roster;
  const shown = { raise: (record: unknown) => record } as ShownUsage;
  const [inbound] = describe([{ id: 2, settings: {} } as unknown as InboundView], roster, shown, false);
  t.is((inbound?.['clientStats'] as readonly unknown[] | undefined)?.length, 1);
  t.is(read, 1);
});
