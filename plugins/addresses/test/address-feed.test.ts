// What changed among the addresses since a position, in pages, and nothing twice.
import test from 'ava';
import { FakeClock } from '../../../test/harness/index.js';
import { AddressFeed } from '../address-feed.js';
import { Sightings } from '../sightings.js';

function made() {
  const clock = new FakeClock();
  const sightings = new Sightings({ clock });
  const clients = { byId: (id: number) => ({ id, limitIp: id % 2 }) as never };
  return { clock, sightings, feed: new AddressFeed({ clock, clients, sightings }) };
}
const ip = (i: number): string => `198.51.${i >> 8}.${i & 255}`;

test('all of before the first question comes in pages, with what is new meanwhile, and each once', (t) => {
  const { clock, sightings, feed } = made();
  for (let i = 1; i <= 250; i++) sightings.note(i, ip(i), clock.now());
  const found: string[] = [];
  let [after, more, pages] = [0, true, 0];
  while (more) {
    const page = feed.changes(after, 100);
    t.true(page.seen.length <= 100);
    found.push(...page.seen.map(({ clientId, address }) => `${clientId} ${address}`));
    ({ seq: after, more } = page);
    if (pages++ === 0) sightings.note(1000, ip(1000), clock.now());
  }
  t.is(found.length, 251);
  t.is(new Set(found).size, 251);
  t.deepEqual(feed.changes(after, 100), { seq: after, seen: [], more: false });
  // Another one asks from the beginning, and one with a position of another process too.
  t.is(feed.changes(0, 1000).seen.length, 251);
  t.is(feed.changes(after + 1, 1000).seen.length, 251);
});

test('what was forgotten, or is older than half an hour, is not told; entries do not pile up', (t) => {
  const { clock, sightings, feed } = made();
  feed.changes(0, 1);
  sightings.note(1, ip(1), clock.now());
  sightings.note(2, ip(2), clock.now());
  sightings.note(4, ip(4), clock.now());
  sightings.forgetClient(1);
  t.deepEqual(
    feed.changes(0, 100).seen.map(({ clientId }) => clientId),
    [2, 4],
  );
  for (let i = 0; i < 5_000; i++) {
    clock.tick(30_000);
    sightings.note(3, ip(3), clock.now());
  }
  // One page has what is told, because what is over is gone.
  const { seen, more } = feed.changes(0, 2_000);
  t.deepEqual([seen.map(({ clientId }) => clientId), more], [[3], false]);
});

test('a panel that tells many addresses of a client takes no room of others; the beginning of a use is believed within bounds', (t) => {
  const { clock, sightings } = made();
  const now = clock.now();
  sightings.note(1, ip(1), now);
  sightings.note(1, ip(2), now, 'other');
  for (let i = 0; i < 200; i++) sightings.note(1, ip(1000 + i), now, 'liar');
  const known = sightings.of(1);
  t.is(known.length, 34);
  t.deepEqual(
    known.slice(0, 2).map(({ panel }) => panel),
    ['', 'other'],
  );
  const since = (begun: number): number => {
    sightings.note(2, ip(9), now, 'other', false, begun);
    return (sightings.of(2)[0]?.since ?? 0) - now;
  };
  t.is(since(now - 60_000), -60_000);
  t.is(since(now - 86_400_000), -30 * 60_000);
  t.is(since(now + 60_000), 0);
});
