// What of JSON is seen before it is parsed, and how large a value is.
import test from 'ava';
import { DEEPEST, holdsMoreThan, TOO_DEEP } from '../depth.js';
import { JsonScan } from '../json.js';

/** Byte by byte, as slow callers send it. */
function scan(text: string, most?: number): string | undefined {
  const json = new JsonScan(most);
  for (const byte of Buffer.from(text)) {
    const problem = json.take(Uint8Array.of(byte));
    if (problem !== undefined) return problem;
  }
  return undefined;
}
const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;

test('counts the depth of open lists and objects, not of texts', (t) => {
  t.is(scan(nested(DEEPEST)), undefined);
  t.is(scan(nested(DEEPEST + 2)), TOO_DEEP);
  t.is(scan('['.repeat(DEEPEST + 1)), TOO_DEEP);
  t.is(scan(`[${'{"a":[1]},'.repeat(1000)}1]`), undefined, 'what was closed does not count');
  for (const text of ['[', '\\"[', '\\\\\\"[', 'ä\\"['])
    t.is(scan(`{"a":"${text.repeat(200)}"}`), undefined, text);
  t.is(scan(`{"a":"\\\\","b":${'['.repeat(DEEPEST)}`), TOO_DEEP, 'a text that ends with a backslash ends');
});

test('counts separators outside of texts, up to the limit', (t) => {
  t.is(scan('{"a":1,"b":[2]}', 5), undefined);
  t.is(scan('{"a":1,"b":[2]}', 4), 'holds more than 4 separators (, : [ {); send less of it at once');
  t.is(scan('{"a":",:[{\\",:[{"}', 2), undefined);
});

test('measures a value by its parts, and each KiB of text as one more', (t) => {
  t.false(holdsMoreThan([1, 2, 3], 3));
  t.true(holdsMoreThan([1, 2, 3], 2));
  t.false(holdsMoreThan({ a: { b: [1, 2] } }, 4));
  t.true(holdsMoreThan({ a: { b: [1, 2] } }, 3));
  t.false(holdsMoreThan('x'.repeat(99 * 1024), 100));
  t.true(holdsMoreThan(['x'.repeat(50 * 1024), 'x'.repeat(50 * 1024)], 100));
});
