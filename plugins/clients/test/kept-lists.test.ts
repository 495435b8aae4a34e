// The buckets and orders that are kept between calls show what a fresh look at all clients would, after every kind of change.
import test from 'ava';
import { random } from '../../../test/harness/random.js';
import { type BucketContext, bucketsOf, summaryOf } from '../lists/buckets.js';
import { Orders } from '../lists/orders.js';
import { KeptBuckets } from '../lists/kept-buckets.js';
import { MOST_STEPS } from '../model/journal.js';
import { Roster, type RosterChange } from '../model/roster.js';
import { row } from './row.js';

const NOW = 1_000_000;

test('an order follows many changes at once', async (t) => {
  const { below, pick } = random(47);
  const roster = new Roster();
  const orders = new Orders({ roster });
  let last = 0;
  const id = () => pick(roster.ordered('id'))?.id ?? 0;
  const steps: readonly (() => RosterChange)[] = [
    () => ({ added: [row(++last, { email: `${below(100)}-${last}`, expiryTime: below(9) })] }),
    () => ({ deleted: [id()] }),
    () => ({ edited: [{ id: id(), fields: { email: `${below(100)}-${++last}`, expiryTime: below(9) } }] }),
    () => ({ usage: [{ clientId: id(), inboundId: 1, up: below(9), down: 1 }], at: below(99) }),
    // Ids in the middle, as after a restore.
    () => ({ added: [row(1_000_000 - ++last, { email: `${below(100)}-${last}` })] }),
  ];
  for (let i = 0; i < 80; i++) await roster.apply((pick(steps.slice(0, 1)) as () => RosterChange)());
  const every = () => Uint8Array.from(roster.ordered('id'), () => 1);
  const seen = (from: Orders) =>
    ['email', 'traffic', 'expiryTime', 'lastOnline'].map((sort) =>
      from.slice(sort, 'descend', every(), 0, roster.size).rows.map((client) => client.id),
    );
  for (let round = 0; round < 40; round++) {
    for (let i = below(40); i >= 0; i--) await roster.apply((pick(steps) as () => RosterChange)());
    t.deepEqual(seen(orders), seen(new Orders({ roster })), `round ${round}`);
  }
});

test('buckets and counts follow every kind of change, however many came since', async (t) => {
  const { below, pick } = random(43);
  const roster = new Roster();
  const kept = new KeptBuckets();
  let last = 0;
  let now = NOW;
  const fields = () => ({
    enable: below(3) > 0,
    totalGB: below(3) * 20,
    expiryTime: below(3) * (NOW + below(60) * 1000),
  });
  const fresh = (count: number) => Array.from({ length: count }, () => row(++last, fields()));
  const id = () => pick(roster.ordered('id'))?.id ?? 0;
  const changes: readonly (() => RosterChange)[] = [
    () => ({ added: fresh(1) }),
    () => ({ added: fresh(20), deleted: [id(), id()] }),
    () => ({ deleted: [id()] }),
    () => ({ edited: [{ id: id(), fields: fields() }] }),
    () => ({ usage: [{ clientId: id(), inboundId: 1, up: below(9), down: 1 }], at: now }),
  ];
  await roster.apply({ added: fresh(60) });
  for (let round = 0; round < 90; round++) {
    const count = round % 30 === 29 ? MOST_STEPS + below(100) : below(6);
    for (let i = 0; i < count; i++) await roster.apply((pick(changes) as () => RosterChange)());
    now += below(4) * 1000;
    const context: BucketContext = {
      now,
      soonMs: 5000 * (1 + Math.floor(round / 30)),
      soonBytes: 5,
      presence:
        round % 40 < 20 ? [] : [{ isOnline: (clientId) => clientId % 3 === Math.floor(now / 10_000) % 3 }],
    };
    const rows = roster.ordered('id');
    const { bits, summary } = kept.of(roster, context);
    const wanted = Uint8Array.from(rows, (client) => bucketsOf(client, context));
    t.deepEqual([...bits], [...wanted], `round ${round}`);
    t.deepEqual(summary, summaryOf(rows, wanted));
  }
});

test('a poll that counts bytes of more clients than steps are kept is seen', async (t) => {
  const roster = new Roster();
  const kept = new KeptBuckets();
  const orders = new Orders({ roster });
  const ids = Array.from({ length: MOST_STEPS + 1 }, (_, i) => i + 1);
  await roster.apply({ added: ids.map((id) => row(id, { totalGB: 100 })) });
  const context: BucketContext = { now: NOW, soonMs: 0, soonBytes: 0, presence: [] };
  const byTraffic = () =>
    orders
      .slice(
        'traffic',
        'descend',
        Uint8Array.from(ids, () => 1),
        0,
        2,
      )
      .rows.map(({ id }) => id);
  t.is(kept.of(roster, context).summary.depletedCount, 0);
  byTraffic();
  await roster.apply({
    usage: ids.map((clientId) => ({ clientId, inboundId: 1, up: 100 + clientId, down: 0 })),
    at: NOW,
  });
  t.is(kept.of(roster, context).summary.depletedCount, ids.length);
  t.deepEqual(byTraffic(), ids.slice(-2).reverse());
});
