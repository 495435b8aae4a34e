// Forms from schemas: which input a field gets, what is shown, what is sent.
import test from 'ava';
import { choicesOf, filledBy, sentBy } from '../page/forms/generate.js';
import { below, hasProblem, ownProblem, problemOf } from '../page/forms/problems.js';
import { fieldsOf, type JsonSchema, titleOf } from '../page/forms/schema.js';
import {
  changedOf,
  costOf,
  initialOf,
  isShown,
  jsonOf,
  sectionsOf,
  typedValue,
  withPath,
  withValue,
} from '../page/forms/values.js';

const schema: JsonSchema = {
  required: ['mode'],
  properties: {
    port: { type: 'integer', 'x-weir': { order: 2, change: 'replace' } },
    mode: { enum: ['a', 'b'], default: 'a', 'x-weir': { order: 1, change: 'none' } },
    short: {
      anyOf: [{ type: 'null' }, { enum: [''] }, { type: 'string' }],
      'x-weir': { order: 3, level: 'advanced', when: { field: 'mode', is: ['b'] } },
    },
    tags: { type: 'array', items: { type: 'string' }, 'x-weir': { order: 4, level: 'advanced' } },
    other: { type: 'string', 'x-weir': { aliasOf: 'mode' } },
    free: { type: 'object', 'x-weir': { order: 5, section: 'More' } },
    logins: {
      anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'object', properties: { user: {} } } }],
      'x-weir': { order: 6, section: 'More' },
    },
    odd: { type: 'array', items: { type: 'object' }, 'x-weir': { order: 7, section: 'More' } },
  },
};
const field = (name: string) => {
  const found = fieldsOf(schema).find((one) => one.name === name);
  if (!found) throw new Error(name);
  return found;
};

test('fields stand in their order, each with its input, without other names', (t) => {
  t.deepEqual(
    fieldsOf(schema).map(({ name, input }) => [name, input]),
    [
      ['mode', 'choice'],
      ['port', 'number'],
      ['short', 'text'],
      ['tags', 'list'],
      ['free', 'json'],
      ['logins', 'records'],
      ['odd', 'json'],
    ],
  );
  t.is(titleOf('maxTimeDiff'), 'Max Time Diff');
});

test('advanced fields are counted, and hidden ones are neither shown nor counted', (t) => {
  t.false(isShown(field('short'), { mode: 'a' }));
  const [main, more] = sectionsOf(schema, { mode: 'b', short: 'x' });
  t.deepEqual([main?.advanced.length, main?.setCount, more?.title], [2, 1, 'More']);
  t.is(sectionsOf(schema, { mode: 'a', short: 'x' })[0]?.setCount, 0);
});

test('a new form has the defaults, and blank fields are left out', (t) => {
  t.deepEqual(initialOf(schema), { mode: 'a' });
  t.deepEqual(withValue({ mode: 'a', unknown: 1, port: 2 }, field('port'), ''), { mode: 'a', unknown: 1 });
  t.deepEqual(changedOf({ a: 1, b: [1] }, { a: 1, b: [2] }), { b: [2] });
  t.deepEqual(changedOf({ a: 'x', b: '', c: 'y' }, { c: 'y' }), { a: '' });
});

test('what is no number yet stays as it was typed', (t) => {
  t.deepEqual(
    ['443', '4e', '-'].map((typed) => typedValue(field('port'), typed)),
    [443, '4e', '-'],
  );
  t.deepEqual(typedValue(field('tags'), '\na\n \nb\n'), ['a', 'b']);
  t.deepEqual(withValue({ tags: ['a'] }, field('tags'), typedValue(field('tags'), '\n')), {});
  t.is(jsonOf('{'), undefined);
  t.deepEqual(jsonOf('{"a":1}'), { value: { a: 1 } });
  // As deep as the panel takes it; what is far deeper is not JSON, in place of a fault that takes the page with it.
  t.truthy(jsonOf('['.repeat(100) + ']'.repeat(100)));
  for (const depth of [102, 200_000])
    t.is(jsonOf(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`), undefined);
});

test('the dearest change says what saving costs', (t) => {
  t.is(costOf(schema, { mode: 'a', port: 1 }, { mode: 'b', port: 1 }), 'none');
  t.is(costOf(schema, { mode: 'a', port: 1 }, { mode: 'b', port: 2 }), 'replace');
});

test('a generator sends fields beside it, and fills paths', (t) => {
  const generator = {
    method: 'GET',
    path: '/panel/x',
    send: { sni: 'name' },
    fills: { key: 'k', 'inner.pub': 'p' },
    choose: { from: 'items', label: 'l' },
  } as const;
  t.deepEqual(sentBy(generator, { name: 'n' }), { sni: 'n' });
  const items = [{ k: 1, p: 2 }];
  t.deepEqual(choicesOf(generator, { items }), items);
  t.deepEqual(filledBy(generator, { inner: { kept: 0 } }, items[0]), { key: 1, inner: { kept: 0, pub: 2 } });
  t.deepEqual(withPath({ a: 'text' }, 'a.b', 1), { a: { b: 1 } });
});

test('a problem of an item is at the field of its list, and of no other field', (t) => {
  const problems = new Map([
    ['in.tags.1', 'tags[1] is too long'],
    ['in.tags.2.name', 'tags[2].name is missing'],
    ['in.tagsToo', 'tagsToo is wrong'],
    ['inner', 'inner is wrong'],
  ]);
  const within = below(problems, 'in');
  t.deepEqual([...within.keys()], ['tags.1', 'tags.2.name', 'tagsToo']);
  t.is(problemOf(within, 'tags'), 'tags[1] is too long; tags[2].name is missing');
  t.is(problemOf(within, 'tagsToo'), 'is wrong', 'beside the field, its path is not repeated');
  t.is(problemOf(new Map([['port', 'a.port must be: a port']]), 'port'), 'must be: a port');
  t.is(problemOf(new Map([['port', 'a.b.port: in use']]), 'port'), 'in use');
  t.is(problemOf(new Map([['port', 'something uses it']]), 'port'), 'something uses it');
  t.is(ownProblem(problems, 'inner'), 'is wrong');
  t.is(ownProblem(problems, 'other'), undefined);
  t.is(problemOf(within, 'tag'), undefined);
  t.is(problemOf(undefined, 'tags'), undefined);
  t.true(hasProblem(within, ['tags', 'x']));
  t.false(hasProblem(within, ['tag', 'x']));
});

test('a blank value stays where it is needed, and is left out elsewhere', (t) => {
  t.deepEqual(withValue({ mode: 'a', port: 1 }, field('mode'), ''), { mode: '', port: 1 });
  t.deepEqual(withValue({ mode: 'a', port: 1 }, field('port'), ''), { mode: 'a' });
});

test('fields without a place of their own come last', (t) => {
  const fields = fieldsOf({
    properties: { last: { type: 'string' }, first: { type: 'string', 'x-weir': { order: 1 } } },
  });
  t.deepEqual(
    fields.map(({ name }) => name),
    ['first', 'last'],
  );
});
