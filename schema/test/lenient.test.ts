// Values as older programs send them, and keys that no schema knows.
import test from 'ava';
import { inspect } from '../inspect.js';
import { lenientInt, lenientText } from '../lenient.js';
import {
  anything,
  custom,
  describedAs,
  jsonObject,
  list,
  openObject,
  optional,
  shape,
  text,
} from '../shape.js';
import { echoing, findUnknownKeys, withIgnored } from '../unknown-keys.js';

test('a number may be a text; blank and null are its zero, and null is the blank text', (t) => {
  const schema = shape({ number: optional(lenientInt().min(-5)), text: optional(lenientText().max(3)) });
  const value = (sent: object) => inspect(schema, sent);
  for (const [sent, read] of [
    ['12', 12],
    [' -5 ', -5],
    ['', 0],
    [null, 0],
    [7, 7],
  ])
    t.deepEqual(value({ number: sent }), { value: { number: read } });
  for (const wrong of ['x', '1.5', '1e400', '9007199254740993', '-6', '0x10', true, [], {}, ['1']])
    t.true('issues' in value({ number: wrong }), String(wrong));
  t.deepEqual(value({ text: null }), { value: { text: '' } });
  t.deepEqual(value({}), { value: {} });
  for (const wrong of [5, 'long', true, [], {}]) t.true('issues' in value({ text: wrong }), String(wrong));
});

test('a lenient value has no preferences of its own: joi would merge them again for every value', (t) => {
  for (const schema of [lenientInt(), lenientText()])
    t.is((schema as unknown as { readonly _preferences: unknown })._preferences, null);
});

async function unknown(schema: Parameters<typeof findUnknownKeys>[0], value: unknown): Promise<string[]> {
  const found = new Set<string>();
  await findUnknownKeys(schema, value, found);
  return [...found];
}

test('finds keys that carry a value and that no schema knows, in objects and lists', async (t) => {
  const item = shape({ a: text() });
  const schema = echoing(
    shape({
      a: text(),
      in: item,
      list: list(item),
      open: openObject(),
      json: jsonObject(),
      any: anything(),
      listOrNot: describedAs(anything(), custom(list(item))),
    }),
    ['echoed'],
  );
  const blank = { x: null, y: '', z: 0, n: false, o: {}, l: [], d: { x: [''] }, zero: '0', no: 'false' };
  t.deepEqual(
    await unknown(schema, { a: 'a', ...blank, echoed: 5, open: { b: 1 }, json: { b: 1 }, any: { b: 1 } }),
    [],
  );
  t.deepEqual(
    await unknown(schema, {
      b: 1,
      in: { a: '', b: 'x' },
      list: [{ b: 1 }, { b: 2, echoed: 3 }, 'text', null],
      listOrNot: [{ c: true }],
    }),
    ['b', 'in.b', 'list[].b', 'list[].echoed', 'listOrNot[].c'],
  );
  for (const value of [undefined, null, 5, 'text', []]) t.deepEqual(await unknown(schema, value), []);
  const flood = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 1]));
  t.is((await unknown(schema, flood)).length, 50);
});

test('names ten of them in the message, shortened and printable', (t) => {
  t.is(withIgnored('saved', new Set()), 'saved');
  t.is(withIgnored('saved', new Set(['a', 'b[].c'])), 'saved; ignored: a, b[].c');
  t.is(withIgnored(undefined, new Set(['a\u202eb\n'])), 'ignored: a?b?');
  t.regex(withIgnored('', new Set(['x'.repeat(99)])), /^ignored: x{60}$/);
  const many = new Set(Array.from({ length: 12 }, (_, i) => `k${i}`));
  t.is(withIgnored('', many), 'ignored: k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 2 more');
});
