// JSON with holes: the text is that of JSON.stringify, whichever parts belong to the client.
import test from 'ava';
import type { ClientRow } from '../../clients/contract.js';
import { compileJson, type JsonTemplate } from '../compiled-json.js';
import type { EntryFill } from '../contract.js';

const fill: EntryFill = {
  client: { email: 'ada', uuid: 'u"1' } as ClientRow,
  server: '192.0.2.1',
  authority: '192.0.2.1:443',
  name: 'node "1"',
};
const CASES: Readonly<Record<string, readonly [JsonTemplate, unknown]>> = {
  'nothing of the client': [
    { a: 1, b: [true, null, 'x'], c: {} },
    { a: 1, b: [true, null, 'x'], c: {} },
  ],
  'values of the client': [
    { tag: ({ name }) => name, list: [({ server }) => server, 2], deep: { id: ({ client }) => client.uuid } },
    { tag: 'node "1"', list: ['192.0.2.1', 2], deep: { id: 'u"1' } },
  ],
  'a key without a value is left out': [
    { a: undefined, b: () => undefined, c: ({ name }) => name, d: 4 },
    { c: 'node "1"', d: 4 },
  ],
  'only keys without values': [{ a: undefined, b: () => undefined }, {}],
  'the first key of the client has no value': [
    { a: () => undefined, b: () => 1, c: () => 2 },
    { b: 1, c: 2 },
  ],
  'objects and lists of the client': [
    { a: () => ({ b: [1] }), c: () => [] },
    { a: { b: [1] }, c: [] },
  ],
  'nothing in a list is null': [
    [undefined, () => undefined],
    [null, null],
  ],
  'a function alone': [({ authority }) => authority, '192.0.2.1:443'],
};
for (const [what, [template, wanted]] of Object.entries(CASES))
  test(what, (t) => t.deepEqual(JSON.parse(compileJson(template)(fill)), wanted));

test('what is the same for all clients is one text', (t) => {
  const write = compileJson({ a: 1, b: ['x'] });
  t.is(write(fill), '{"a":1,"b":["x"]}');
  t.is(write(fill), write({ ...fill, name: 'other' }));
});
