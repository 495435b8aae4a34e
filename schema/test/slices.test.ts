// Large values are validated in slices, and come out as if they had been validated in one go.
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import Joi from 'joi';
import { inspect } from '../inspect.js';
import { bool, int, list, mapOf, optional, type Schema, shape, text, withDefault } from '../shape.js';
import { inspectInSlices } from '../slices.js';

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const People = shape({
  title: text(),
  on: withDefault(bool(), true),
  people: list(shape({ name: text().trim().prefs({ convert: true }), ids: optional(list(int()).max(3000)) })),
  ages: optional(mapOf(int())),
  inner: optional(shape({ flags: list(bool()) })),
});

test('validates a large value like a small one: defaults, conversions, unknown keys', async (t) => {
  const value = {
    title: 'x',
    stranger: many(2000, (i) => i),
    people: many(3000, (i) => ({ name: ` ${i} `, ...(i === 7 && { ids: many(2500, (n) => n) }), other: 1 })),
    ages: Object.fromEntries(many(3000, (i) => [`k${i}`, i])),
    inner: { flags: many(1500, () => true), more: {} },
  };
  t.deepEqual(await inspectInSlices(People, value), inspect(People, value));
});

test('issues of a large value name the same paths and words as those of a small one', async (t) => {
  const value = {
    title: 5,
    people: many(3000, (i) => ({
      name: i === 2999 ? 5 : 'x',
      ...(i === 7 && { ids: many(3001, () => 'x') }),
    })),
    ages: { ...Object.fromEntries(many(3000, (i) => [`k${i}`, i])), bad: 'x' },
    inner: { flags: [...many(1500, () => true), 'x'] },
  };
  const result = await inspectInSlices(People, value);
  t.deepEqual('issues' in result && result.issues.map(({ message }) => message), [
    'title must be a string',
    'people[7].ids must contain less than or equal to 3000 items',
    'people[2999].name must be a string',
    'ages.bad must be a number',
    'inner.flags[1500] must be a boolean',
  ]);
  const [whole] = [
    await inspectInSlices(
      list(int()) as Schema,
      many(2000, (i) => (i === 1999 ? 'x' : i)),
    ),
  ];
  t.deepEqual(whole, { issues: [{ path: '1999', message: '[1999] must be a number' }], more: '' });
});

test('schemas whose parts depend on each other are validated in one go', async (t) => {
  const ids = many(2000, (i) => i);
  const either = Joi.object({ a: Joi.array().items(Joi.number()).optional(), b: Joi.any().optional() }).xor(
    'a',
    'b',
  );
  t.true('issues' in (await inspectInSlices(either, { a: ids, b: 1 })));
  t.deepEqual(await inspectInSlices(either, { a: ids }), { value: { a: ids } });
  const sum = Joi.object({ a: Joi.array().items(Joi.number()) }).custom(({ a }: { a: number[] }) => a.length);
  t.deepEqual(await inspectInSlices(sum, { a: ids }), { value: 2000 });
});

test('applies references, conditions and counts to a large value as to a small one', async (t) => {
  const numbers = Joi.array().items(Joi.number());
  const list = many(2000, (i) => i);
  const cases: Record<string, [Joi.Schema, unknown]> = {
    reference: [
      Joi.object({ most: Joi.number(), list: Joi.array().items(Joi.number().max(Joi.ref('...most'))) }),
      { most: 1998, list },
    ],
    condition: [
      Joi.object({ list: numbers, on: Joi.boolean() }).when(Joi.object({ on: true }).unknown(), {
        // biome-ignore lint/suspicious/noThenProperty: that is how joi spells it
        then: Joi.object({ list: Joi.forbidden() }),
      }),
      { list, on: true },
    ],
    'a count of keys': [Joi.object({ list: numbers, other: Joi.any() }).min(2), { list }],
    'an item that must be there': [numbers.has(Joi.number().valid(-1)), list],
    'a key that is required': [Joi.object({ list: numbers, other: Joi.any().required() }), { list }],
  };
  for (const [what, [schema, value]] of Object.entries(cases)) {
    const whole = inspect(schema as Schema, value);
    t.true('issues' in whole, what);
    t.deepEqual(await inspectInSlices(schema as Schema, value), whole, what);
  }
});

test('yields while it validates a large value, and stops after enough issues', async (t) => {
  let turns = 0;
  let done = false;
  const counting = (async () => {
    while (!done) {
      await turn();
      turns++;
    }
  })();
  const items = shape({ people: list(shape({ name: text(), on: bool() })) });
  await inspectInSlices(items, { people: many(100_000, () => ({ name: 'x', on: true })) });
  const whileValid = turns;
  turns = 0;
  const broken = await inspectInSlices(items, { people: many(100_000, () => 1) });
  done = true;
  await counting;
  t.true(whileValid > 3, `${whileValid} turns`);
  t.true(turns < whileValid, `${turns} turns`);
  t.is('issues' in broken && broken.issues.length, 50);
});

test('drops many unknown keys before joi checks each of them', (t) => {
  const flood = Object.fromEntries(many(1000, (i) => [`k${i}`, { name: 'x' }]));
  const schema = shape({ a: int(), b: optional(shape({ c: text() })) });
  t.deepEqual(inspect(schema, { ...flood, a: 1, b: { ...flood, c: 'x' } }), {
    value: { a: 1, b: { c: 'x' } },
  });
  const refused = inspect(schema, flood, { closed: true });
  t.is('issues' in refused && refused.issues.length, 50);
  t.is('issues' in refused && refused.more, '; and 951 more');
  const named = Object.fromEntries(many(500, (i) => [`k${i}`, i]));
  const open = shape({ a: int() }).pattern(/^k/, int());
  t.deepEqual(
    inspect(open, { a: 1, ...named }),
    { value: { a: 1, ...named } },
    'those of a pattern are no flood',
  );
});
