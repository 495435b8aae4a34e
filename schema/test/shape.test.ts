import Joi from 'joi';
import test from 'ava';
import { DEEPEST, nestsTooDeep } from '../depth.js';
import { inspect, issuesAt } from '../inspect.js';
import {
  anything,
  bool,
  custom,
  int,
  jsonObject,
  list,
  mapOf,
  nullable,
  num,
  oneOf,
  openObject,
  optional,
  type Schema,
  shape,
  text,
  urlPath,
  withDefault,
  word,
} from '../shape.js';

/** Paths and messages of all issues, or the value. */
const look = (schema: Schema, value: unknown, convert = false): unknown => {
  const result = inspect(schema, value, { convert });
  return 'value' in result ? result.value : result.issues.map(({ path, message }) => `${path}: ${message}`);
};
const refused = (schema: Schema, value: unknown, convert = false): boolean =>
  'issues' in inspect(schema, value, { convert });
const json = (body: string): unknown => JSON.parse(body);

test('a field is required unless it says otherwise; names missing ones', (t) => {
  const schema = shape({
    a: int(),
    b: optional(text()),
    c: withDefault(int(), 7),
    d: nullable(text()),
    e: shape({ f: bool() }),
  });
  t.deepEqual(look(schema, { a: 1, d: null, e: { f: true } }), { a: 1, c: 7, d: null, e: { f: true } });
  t.deepEqual(look(schema, { e: {} }), ['a: a is required', 'd: d is required', 'e.f: e.f is required']);
  t.deepEqual(look(schema, { a: undefined, d: 'x', e: { f: false }, b: undefined }), ['a: a is required']);
  t.true(refused(schema, { a: 1, b: null, d: null, e: { f: true } }));
  t.true(refused(schema, undefined));
});

test('an issue names the whole path, through lists and maps', (t) => {
  const schema = shape({ people: list(shape({ ages: mapOf(int()) })) });
  t.deepEqual(look(schema, { people: [{ ages: { ada: 1 } }, { ages: { bob: 'x' } }] }), [
    'people.1.ages.bob: people[1].ages.bob must be a number',
  ]);
});

test('calls a value without fields "it"', (t) => {
  t.deepEqual(look(int(), 'x'), [': it must be a number']);
});

test('says what a pattern requires, without the wrong value', (t) => {
  t.deepEqual(look(shape({ path: urlPath() }), { path: '/hunter 2/' }), [
    'path: path must be: path that begins and ends with a slash',
  ]);
});

test('drops unknown keys, also nested ones; keeps an open object whole; a closed check names them', (t) => {
  const schema = shape({
    a: int(),
    inner: shape({ b: int() }),
    whole: openObject(),
    rows: list(shape({ c: int() })),
  });
  const value = { a: 1, x: 1, inner: { b: 2, y: 2 }, whole: { z: { deep: [1] } }, rows: [{ c: 3, q: 4 }] };
  t.deepEqual(look(schema, value), { a: 1, inner: { b: 2 }, whole: { z: { deep: [1] } }, rows: [{ c: 3 }] });
  t.deepEqual(value.inner, { b: 2, y: 2 } as never);
  const closed = inspect(schema, value, { closed: true });
  t.deepEqual('issues' in closed && closed.issues.map(({ path }) => path).sort(), [
    'inner.y',
    'rows.0.q',
    'x',
  ]);
});

test('a number in JSON is a number, safe and finite', (t) => {
  for (const value of [
    '1',
    '',
    null,
    true,
    [],
    {},
    json('9007199254740993'),
    json('-9007199254740993'),
    json('1e999'),
    Number.NaN,
    1.5,
  ])
    t.true(refused(int(), value), JSON.stringify(value));
  for (const value of [0, -1, Number.MAX_SAFE_INTEGER]) t.is(look(int(), value), value);
  for (const value of ['1.5', json('1e999'), json('1e17'), Number.NaN])
    t.true(refused(num(), value), JSON.stringify(value));
  t.is(look(num(), 1.5), 1.5);
});

test('converts text of queries and forms to numbers and booleans, and rejects other text', (t) => {
  const schema = shape({ n: int(), b: bool() });
  t.deepEqual(look(schema, { n: '42', b: 'true' }, true), { n: 42, b: true });
  t.deepEqual(look(schema, { n: '42', b: 'true' }), ['n: n must be a number', 'b: b must be a boolean']);
  for (const n of ['x', '', '1x', '9007199254740993', 'Infinity', 'NaN', '1.5', '0x10'])
    t.true(refused(schema, { n, b: 'true' }, true), n);
  for (const b of ['1', 'yes', '']) t.true(refused(schema, { n: '1', b }, true), b);
});

test('text can be empty, a word cannot; neither is a number', (t) => {
  t.is(look(text(), ''), '');
  t.true(refused(word(), ''));
  for (const value of [1, null, true, [], {}])
    t.true(refused(text(), value) && refused(word(), value), JSON.stringify(value));
});

test('accepts only the listed values', (t) => {
  const schema = oneOf('a', 1, null);
  for (const value of ['a', 1, null]) t.is(look(schema, value), value);
  for (const value of ['A', '1', 0, undefined, {}]) t.true(refused(schema, value), String(value));
});

test('accepts an object as an object or as JSON text only', (t) => {
  const schema = shape({ settings: jsonObject() });
  const expected = { settings: { a: [1, { b: null }], unknown: 'kept' } };
  t.deepEqual(look(schema, expected), expected);
  t.deepEqual(look(schema, { settings: JSON.stringify(expected.settings) }), expected);
  for (const empty of ['', ' \n']) t.deepEqual(look(schema, { settings: empty }), { settings: {} });
  t.deepEqual(look(schema, { settings: '{"a":' }), ['settings: settings: it is not valid JSON']);
  for (const value of ['[]', '1', 'null', '"x"', [], 1, true, null])
    t.deepEqual(
      look(schema, { settings: value }),
      ['settings: settings: it must be an object'],
      JSON.stringify(value),
    );
  t.true(refused(schema, {}));
});

test('limits nesting, in objects and in JSON text', (t) => {
  const nest = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  t.false(nestsTooDeep(nest(DEEPEST)));
  t.true(nestsTooDeep(nest(DEEPEST + 2)));
  t.true(nestsTooDeep({ wide: Array.from({ length: 1000 }, () => 1), deep: nest(100_000) }));
  for (const flat of [undefined, null, 1, 'text', [], {}, Array.from({ length: 10_000 }, (_, i) => ({ i }))])
    t.false(nestsTooDeep(flat));
  t.deepEqual(look(jsonObject(), `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`), [
    `: it nests deeper than ${DEEPEST} levels`,
  ]);
});

test('gives each value its own copy of a default', (t) => {
  const schema = shape({ tags: withDefault(list(text()), []), more: withDefault(openObject(), {}) });
  const checked = () => {
    const result = inspect(schema, {});
    return 'value' in result ? result.value : { tags: ['refused'], more: {} };
  };
  const one = checked();
  one.tags.push('mine');
  one.more['mine'] = true;
  t.deepEqual(checked(), { tags: [], more: {} });
});

test('applies limits of joi through the types', (t) => {
  t.true(refused(int().min(1), 0));
  t.true(refused(word().max(2), 'abc'));
  t.true(refused(list(int()).max(1), [1, 2]));
  t.true(refused(list(int()), [1, undefined]));
  t.is(look(custom<string>(Joi.string().uppercase()), 'ABC'), 'ABC');
  t.deepEqual(look(anything(), { any: ['thing'] }), { any: ['thing'] });
});

test('reports an issue of a part with its path in the whole', (t) => {
  const result = inspect(shape({ size: int() }), { size: 'x' });
  t.deepEqual(issuesAt('hat', result), [{ path: 'hat.size', message: 'hat.size must be a number' }]);
  t.deepEqual(issuesAt('hat', inspect(int(), 'x')), [{ path: 'hat', message: 'hat: it must be a number' }]);
  t.deepEqual(issuesAt('hat', inspect(int(), 1)), []);
});
