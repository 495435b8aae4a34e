// Who is at an address, and when a new use of one begins.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import { AddressFeed } from '../address-feed.js';
import { ClientsAt } from '../clients-at.js';
import { Sightings } from '../sightings.js';

function made() {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  const at = new ClientsAt({
    clock,
    sightings,
    observer: { isIgnored: (address) => address === '192.0.2.66' },
    settings: { read: () => ({ ipLimitAllowlist: '203.0.113.0/24' }) as never },
    feed: new AddressFeed({ clock, clients: { byId: () => undefined }, sightings }),
  });
  const ids = (address: string) =>
    at
      .at(address)
      .map(({ clientId }) => clientId)
      .sort();
  return { clock, sightings, at, ids };
}

test('lists the clients of an address or an IPv6 /64, seen within half an hour by any panel', (t) => {
  const { clock, sightings, at, ids } = made();
  sightings.note(1, '192.0.2.1', clock.now());
  sightings.note(2, '::ffff:192.0.2.1', clock.now(), 'elsewhere');
  sightings.note(1, '192.0.2.1', clock.now(), 'elsewhere');
  sightings.note(3, '2001:db8::1', clock.now());
  sightings.note(4, '2001:db8::2', clock.now());
  t.deepEqual(ids('192.0.2.1'), [1, 2]);
  t.deepEqual(ids('2001:db8::ffff'), [3, 4]);
  t.deepEqual([ids('192.0.2.2'), ids('nonsense')], [[], []]);
  sightings.forgetClient(1);
  t.deepEqual(ids('192.0.2.1'), [2]);
  clock.tick(31 * 60_000);
  t.deepEqual(ids('2001:db8::1'), []);
  for (const taken of sightings.takeUnwritten()) taken.written = taken.lastSeen;
  sightings.tidy();
  t.deepEqual([...sightings.at('192.0.2.1')], []);
  t.true(at.isSpared('192.0.2.66'));
  t.true(at.isSpared('203.0.113.7'));
  t.false(at.isSpared('192.0.2.1'));
});

test('the oldest that a full client loses is at no address any more', (t) => {
  const { clock, sightings, ids } = made();
  for (let n = 0; n < 65; n++) {
    sightings.note(1, `192.0.2.${n}`, clock.now());
    clock.tick(1000);
  }
  t.deepEqual([ids('192.0.2.0'), ids('192.0.2.1')], [[], [1]]);
});

test('after the end of a use, only a connection in the log begins a new one', (t) => {
  const { clock, sightings, at } = made();
  const since = () => sightings.of(1)[0]?.since;
  const first = clock.now();
  sightings.note(1, '192.0.2.1', first, '', true);
  clock.tick(1000);
  at.endUse(1, '192.0.2.1', clock.now() + 11_400);
  sightings.note(1, '192.0.2.1', clock.now(), '', true);
  t.is(since(), first, 'a line of a connection from before the end');
  clock.tick(11_000);
  sightings.note(1, '192.0.2.1', clock.now());
  t.is(since(), first, 'what is open may have been opened before');
  sightings.note(1, '192.0.2.1', clock.now(), '', true);
  t.is(since(), clock.now(), 'within the second of the end: the log knows no more');
  const second = clock.now();
  clock.tick(1000);
  sightings.note(1, '192.0.2.1', clock.now(), '', true);
  t.is(since(), second, 'once');
});

test('the end of a use also holds for an address that is seen only later', (t) => {
  const { clock, sightings, at } = made();
  const start = clock.now();
  at.endUse(1, '2001:db8::1', start + 10_000);
  clock.tick(12_000);
  sightings.note(1, '2001:db8::2', start, '', true);
  t.is(sightings.of(1)[0]?.since, start, 'a line that was read late');
  sightings.note(1, '2001:db8::3', clock.now(), '', true);
  t.is(sightings.of(1)[0]?.since, clock.now());
});
