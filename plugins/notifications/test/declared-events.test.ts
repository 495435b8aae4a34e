// What plugins describe is not trusted.
import test from 'ava';
import { boundedData, DeclaredEvents } from '../events/declared-events.js';

test('data that is too large is shortened, and of a summary its count and times stay', (t) => {
  const small = { emails: ['ada'], more: { deep: 1 } };
  t.deepEqual(boundedData(small), small);
  t.true(Object.isFrozen(boundedData(small)['emails']));
  const samples = (length: number) =>
    Array.from({ length: 100 }, (_, at) => ({ at, reason: 'x'.repeat(length) }));
  const of = (length: number) =>
    boundedData({
      count: 60,
      from: 1,
      to: 2,
      samples: samples(length),
      note: 'n'.repeat(20_000 * Number(length > 1e4)),
    });
  for (const [length, most] of [
    [250, 50],
    [700, 20],
    [3_000, 5],
    [16_000, 1],
  ] as const) {
    const data = boundedData({ count: 60, from: 1, to: 2, samples: samples(length) });
    t.like(data, { count: 60, from: 1, to: 2, isShortened: true });
    t.is((data['samples'] as unknown[]).length, most, `${length}`);
  }
  t.deepEqual(of(20_000), { count: 60, from: 1, to: 2, samples: [], isShortened: true });
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`key${at}`, at]));
  t.deepEqual(boundedData(many), { isShortened: true });
  t.deepEqual(boundedData({ bytes: 1n }), { isShortened: true });
});

test('occurrences that cannot be used are left out and reported once, the others are kept', (t) => {
  const faults: string[] = [];
  const events = new DeclaredEvents({ contributions: () => [] });
  const good = { args: {}, data: {} };
  const wrong = [
    ...[
      null,
      7,
      {},
      { args: {} },
      { ...good, args: [] },
      { ...good, severity: 'fatal' },
      { ...good, quietKey: 7 },
    ],
    ...[
      { ...good, client: { id: 1, email: 'a' } },
      { ...good, client: { id: 1, email: 2, messengerId: 3 } },
    ],
    ...Array.from({ length: 10_000 }, () => 'junk'),
  ];
  const entry = (describe: () => unknown) =>
    ({
      plugin: 'p',
      value: { name: 'e', describe },
      fault: (where: string, error: Error) => void faults.push(`${where}: ${error.message}`),
    }) as never;
  t.deepEqual(
    events.describe(
      entry(() => [good, ...wrong, good]),
      {},
    ),
    [good, good],
  );
  t.is(faults.length, 1);
  t.regex(faults[0] ?? '', /^describe of the event e: 10009 of 10011 occurrences are left out/);
  for (const answer of [undefined, 'x', Promise.reject(new Error('late')), { length: 1 }])
    t.deepEqual(
      events.describe(
        entry(() => answer),
        {},
      ),
      [],
    );
  t.deepEqual(
    events.describe(
      entry(() => Array.from({ length: 100_001 }, () => good)),
      {},
    ),
    [],
  );
  t.is(faults.length, 6);
});
