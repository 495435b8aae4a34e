// What JSON can say, and what long lists of plugins may hold.
import test from 'ava';
import { checkedList, inspect, jsonRecord, whyNotJson } from '../index.js';

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

test('names the path of a value that JSON would lose or change', (t) => {
  class Odd {}
  for (const [value, says] of [
    [{ a: { b: Number.NaN } }, /^a\.b is NaN, which JSON cannot represent$/],
    [{ a: [1, Number.POSITIVE_INFINITY] }, /^a\.1 is Infinity/],
    [{ a: 1n }, /^a is 1/],
    [{ a: () => 1 }, /^a is \(\) => 1/],
    [{ a: new Date() }, /^a is a Date/],
    [{ a: new Map() }, /^a is a Map/],
    [{ a: new Odd() }, /^a is a Odd/],
    [{ a: [undefined] }, /^a\.0 is undefined/],
    [undefined, /^it is undefined/],
    [deep(201), /^it nests deeper than 200 levels$/],
    [Array(200_000).fill(1), /^it holds more than 200000 values$/],
  ] as const)
    t.regex(whyNotJson(value) ?? '', says);
  for (const value of [
    { a: undefined, b: [null, true, 'x', -1.5] },
    Object.assign(Object.create(null) as object, { a: 1 }),
    deep(200),
    Array(199_999).fill(1),
  ])
    t.is(whyNotJson(value), undefined);
  for (const value of [[], null, 'x']) t.true('issues' in inspect(jsonRecord(), value));
  t.deepEqual(inspect(jsonRecord(), { a: [1] }), { value: { a: [1] } });
});

test('a checked list limits the number of items and checks each one, holes included', (t) => {
  const schema = checkedList<number>(2, (item) => (typeof item === 'number' ? undefined : 'no number'));
  const says = (value: unknown) => {
    const result = inspect(schema, value);
    return 'issues' in result ? result.issues.map(({ message }) => message).join() : '';
  };
  t.is(says([1, 2]), '');
  t.regex(says([1, 2, 3]), /it has 3 items; at most 2 are allowed/);
  t.regex(says([1, 'x']), /item 1: no number/);
  // biome-ignore lint/suspicious/noSparseArray: that is what a plugin may hand over
  t.regex(says([1, ,]), /item 1: no number/);
  t.regex(says({ length: 0 }), /it must be a list/);
});
