import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import { AddressesOfHere } from '../told-addresses.js';
import { CENTRAL } from './world.js';

test('a central is told what this panel and those below it saw, and not what it saw itself, though it is a node too', async (t) => {
  const clock = new FakeClock();
  const seen = ['', CENTRAL, 'node', 'below', 'elsewhere'].map((panel) => ({
    ...{
      clientId: 1,
      panel,
      address: '192.0.2.1',
      lastSeen: clock.now() - 1_000,
      since: clock.now() - 2_000,
    },
  }));
  const here = new AddressesOfHere({
    clock,
    identity: { guid: 'here' },
    addresses: { changes: () => ({ seq: 5, seen }) },
    nodes: {
      list: () => [
        { id: 1, guid: CENTRAL },
        { id: 2, guid: 'node' },
      ],
      below: (id: number) => (id === 2 ? ['below'] : []),
    },
    records: { idsAt: async () => new Map([[1, 71]]) },
    centrals: {},
  } as never);
  const { seq, addresses } = await here.read({ id: 3, guid: CENTRAL } as never, 0);
  t.is(seq, 5);
  t.deepEqual(
    addresses.map(({ guid }) => guid),
    ['here', 'node', 'below'],
  );
  t.deepEqual(addresses[0], { id: 71, ip: '192.0.2.1', guid: 'here', since: 2_000, seen: 1_000 });
});
