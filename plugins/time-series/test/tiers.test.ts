import test from 'ava';
import { bucketOf, planRead, type Tier, TIERS } from '../tiers.js';

const NOW = Date.UTC(2026, 0, 15, 12, 0, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const plan = (span: { from: number; to?: number; step?: number; most?: number }) =>
  planRead({ to: NOW, step: 0, most: 500, ...span }, NOW);

test('the last hour is read at 2 s, two days at 1 min, thirty days at 5 min', (t) => {
  t.like(plan({ from: NOW - HOUR, most: 2_000 }), { tier: 0, step: 2_000 });
  t.like(plan({ from: NOW - HOUR - 10 * 60_000, most: 2_000 }), { tier: 1, step: 60_000 });
  t.like(plan({ from: NOW - 2 * DAY, most: 2_000 }), { tier: 1, step: 120_000 });
  t.like(plan({ from: NOW - 30 * DAY, most: 2_000 }), { tier: 2, step: 1_500_000 });
  t.like(plan({ from: NOW - 30 * DAY, to: NOW - 29 * DAY, most: 2_000 }), { tier: 2, step: 300_000 });
});

test('a coarse reading of a recent span takes the coarsest tier that is fine enough', (t) => {
  t.like(plan({ from: NOW - HOUR, step: 60_000 }), { tier: 1, step: 60_000 });
  t.like(plan({ from: NOW - HOUR, step: 30_000 }), { tier: 0, step: 30_000 });
  t.like(plan({ from: NOW - 5 * HOUR, step: 180_000 }), { tier: 1, step: 180_000 });
  t.like(plan({ from: NOW - HOUR, step: 400_000 }), { tier: 2, step: 600_000 });
});

test('no plan has more points than were asked for, and each holds the whole span', (t) => {
  for (const most of [1, 2, 7, 60, 499, 2_000])
    for (const length of [0, 1, 1_999, 2_000, 61_234, HOUR, HOUR + 777, 2 * DAY, 30 * DAY, 400 * DAY])
      for (const shift of [0, 1, 999, 59_999]) {
        const from = NOW - length - shift;
        const { tier, step, first, last } = plan({ from, to: NOW - shift, most });
        t.true((last - first) / step + 1 <= most, `${most} ${length} ${shift}`);
        t.true(first <= from && last + step > NOW - shift);
        t.is(step % (TIERS[tier] as Tier).step, 0);
      }
});

test('rings are longer than they promise', (t) => {
  const lengths = TIERS.map(({ step, slots }) => step * (slots - 2));
  t.true([HOUR, 2 * DAY, 30 * DAY].every((promised, i) => (lengths[i] ?? 0) > promised));
  t.is(bucketOf(5_999, TIERS[0] as Tier), 2);
});
