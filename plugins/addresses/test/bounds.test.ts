// What another panel may post: however much it is, memory stays bounded and other work goes on.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import type { ClientRow } from '../../clients/contract.js';
import { AddressLimit } from '../limit.js';
import { ELSEWHERE, Sightings } from '../sightings.js';

const sightingsIn = (sightings: Sightings): number =>
  [...sightings.clients()].reduce((sum, id) => sum + sightings.of(id).length, 0);

test('memory holds a number of addresses in all; clients that were seen the longest time ago are forgotten', (t) => {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock }, 100);
  const now = clock.now();
  for (let id = 1; id <= 10; id++)
    for (let n = 0; n < 50; n++) {
      sightings.note(id, `192.0.2.${n}`, now, ELSEWHERE);
      t.true(sightings.size <= 100);
      t.is(sightings.size, sightingsIn(sightings));
    }
  t.deepEqual([...sightings.clients()], [9, 10]);
  t.is(sightings.takeUnwritten().length, 100, 'what was forgotten is not written either');
  for (let n = 0; n < 80; n++) sightings.note(10, `198.51.100.${n}`, now);
  t.is(sightings.size, sightingsIn(sightings));
  sightings.forgetClient(10);
  sightings.forgetClient(11);
  t.is(sightings.size, sightingsIn(sightings));
  const row = {
    clientId: 3,
    panel: '',
    network: '192.0.2.1',
    address: '192.0.2.1',
    firstSeen: now,
    lastSeen: now,
  };
  for (let n = 0; n < 200; n++) sightings.restore({ ...row, clientId: n % 150 });
  t.is(sightings.size, 100);
  t.is(sightings.size, sightingsIn(sightings));
  clock.tick(60 * 60_000);
  for (const taken of sightings.takeUnwritten()) taken.written = taken.lastSeen;
  sightings.tidy();
  t.is(sightings.size, sightingsIn(sightings));
});

test('a clock that is set back leaves no address that takes a place for hours', (t) => {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  sightings.note(1, '192.0.2.1', clock.now());
  clock.tick(-86_400_000);
  for (const taken of sightings.takeUnwritten()) taken.reported = taken.written = taken.lastSeen;
  sightings.tidy();
  const [seen] = sightings.of(1);
  const now = clock.now();
  t.like(seen, { lastSeen: now, since: now, written: now, reported: now });
  clock.tick(31 * 60_000);
  sightings.tidy();
  t.is(sightings.size, 0);
});

test('what the database does not have yet is not forgotten, however old it is', (t) => {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  sightings.note(1, '192.0.2.1', clock.now());
  clock.tick(31 * 60_000);
  sightings.tidy();
  // The write fails, and is tried again.
  sightings.handBack(sightings.takeUnwritten());
  t.deepEqual(
    sightings.takeUnwritten().map(({ address }) => address),
    ['192.0.2.1'],
  );
});

test('a check of many clients lets other work run', async (t) => {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  let others = 0;
  let seenByLast = 0;
  const client = { email: 'x', enable: true, limitIp: 1, inboundIds: [1] };
  const limit = new AddressLimit({
    log: { info: () => undefined, error: (message: string) => t.fail(message) } as never,
    clock,
    hooks: { emit: () => undefined, choose: async () => undefined } as never,
    clients: { byId: (id: number) => ({ ...client, id }) as unknown as ClientRow },
    connections: undefined,
    sightings,
    shared: { isOn: false, elsewhere: () => [] },
    settings: {
      // Each client takes a while.
      read: () => {
        for (const end = performance.now() + 1; performance.now() < end; );
        seenByLast = others;
        return { ipLimitAllowlist: '', ipLimitCut: 'newest', addressDays: 1, addressesIgnored: '' } as never;
      },
    },
  });
  const ids = Array.from({ length: 50 }, (_, i) => i + 1);
  for (const id of ids) for (const ip of ['192.0.2.1', '192.0.2.2']) sightings.note(id, ip, clock.now());
  let running = true;
  const other = (): void => void (running && (others++, setImmediate(other)));
  setImmediate(other);
  await limit.seen(ids);
  running = false;
  t.true(seenByLast > 0);
});
