// Which routes take a key without saying so, and which requests count as the same.
import test from 'ava';
import { file, message, route, stream } from '../../../kernel/index.js';
import { fingerprintOf } from '../fingerprint.js';

test('each POST takes a key that asks for a login, and whose body and reply are no streams', (t) => {
  const takes = (given: object): boolean =>
    route({
      method: 'POST',
      path: '/panel/api/x/test',
      doc: 'x',
      reply: message(),
      handle: () => '',
      ...given,
    } as Parameters<typeof route>[0]).idempotent;
  t.true(takes({}));
  t.true(takes({ auth: 'session' }));
  t.false(takes({ auth: 'anyone' }));
  t.false(takes({ stream: true }));
  t.false(takes({ files: { backup: file({ maxBytes: 100 }) } }));
  t.false(takes({ reply: stream('text/csv') }));
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) t.false(takes({ method }), method);
  t.false(takes({ idempotent: false }));
  t.true(takes({ method: 'PUT', idempotent: true }));
});

test('requests are the same whatever the order of their fields, and differ in everything else', async (t) => {
  const same = [
    { a: 1, b: { c: [1, 2], d: 'x' }, e: undefined },
    { b: { d: 'x', c: [1, 2] }, a: 1 },
  ];
  const [one, other] = await Promise.all(same.map(fingerprintOf));
  t.is(one, other);
  const different = [
    null,
    [],
    {},
    '',
    [null],
    [[]],
    [[1], 2],
    [[1, 2]],
    [1, [2]],
    [1, 2],
    ['1', 2],
    [12],
    { a: [1, 2] },
    { a: [2, 1] },
    { a: 1, b: 2 },
    { a: { b: 2 } },
    { a: null },
    { a: '' },
    ['x'.repeat(200_000)],
    ['x'.repeat(199_999), 'x'],
  ];
  const digests = await Promise.all(different.map(fingerprintOf));
  t.is(new Set(digests).size, different.length);
});
