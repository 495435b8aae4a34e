// Open connections that the log does not show.
import test from 'ava';
import { createLog } from '../../../panel/log.js';
import type { UserRef } from '../../engine/contract.js';
import { OnlineScan } from '../online-scan.js';

const clients = new Map([
  [1, { enable: true, limitIp: 1 }],
  [2, { enable: true, limitIp: 0 }],
  [3, { enable: false, limitIp: 1 }],
]);
const user = (clientId: number): UserRef => ({ inboundId: 1, clientId });

function world(
  addresses: (wanted: (user: UserRef) => boolean) => Promise<readonly (UserRef & { address: string })[]>,
) {
  const noted: unknown[] = [];
  const checked: number[] = [];
  const log: string[] = [];
  const scan = new OnlineScan({
    log: createLog({ level: 'info', readable: true, write: (line) => void log.push(line) }),
    clock: { now: () => 5000, every: () => () => undefined },
    online: { addresses },
    clients: { byId: (id) => clients.get(id) as never },
    observer: { isIgnored: (address) => address === '192.0.2.99' },
    sightings: { note: (...sighting: unknown[]) => (noted.push(sighting), 'x') } as never,
    limit: { seen: async (ids: Iterable<number>) => void checked.push(...ids) } as never,
  });
  return { scan, noted, checked, log };
}

test('asks about enabled clients with a limitIp alone, notes their addresses as of now and checks them', async (t) => {
  const asked: boolean[] = [];
  const { scan, noted, checked } = world(async (wanted) => {
    asked.push(...[1, 2, 3, 4].map((id) => wanted(user(id))));
    return [
      { ...user(1), address: '192.0.2.1' },
      { ...user(1), address: '192.0.2.99' },
    ];
  });
  await scan.run();
  t.deepEqual(asked, [true, false, false, false]);
  t.deepEqual(noted, [[1, '192.0.2.1', 5000]]);
  t.deepEqual(checked, [1]);
});

test('a core without these statistics is logged once and harms nothing', async (t) => {
  const { scan, noted, log } = world(() => Promise.reject(new Error('unknown method')));
  await scan.run();
  await scan.run();
  t.is(log.filter((line) => line.includes('does not say from where')).length, 1);
  t.deepEqual(noted, []);
});
