// What a record shows of two states.
import test from 'ava';
import { declaredFields } from '../../clients/model/fields.js';
import { clients } from '../../clients/recorded.js';
import { differences, differencesInSteps, secretNames } from '../differences.js';

const isSecret = secretNames(['id']);

test('each field that differs has its path, with the value before and after', (t) => {
  const before = { port: 1, list: [1, 2], inner: { on: true, gone: 'x' }, rows: [{ a: 1 }, { a: 2 }] };
  const after = { port: 2, list: [1, 3], inner: { on: true, came: '' }, rows: [{ a: 1 }, { a: 3, b: null }] };
  t.deepEqual(
    { ...differences(before, after, isSecret) },
    {
      port: [1, 2],
      list: ['[1,2]', '[1,3]'],
      'inner.gone': ['x', null],
      'inner.came': [null, ''],
      'rows.1.a': [2, 3],
      'rows.1.b': [null, null],
    },
  );
  t.is(differences(before, structuredClone(before), isSecret), undefined);
  t.is(differences({ a: undefined }, {}, isSecret), undefined);
});

test('a record that is new or gone shows what is not blank', (t) => {
  const record = { a: 'x', b: '', c: 0, d: false, e: null, f: [], g: {}, h: 5 };
  t.deepEqual({ ...differences(undefined, record, isSecret) }, { a: [null, 'x'], h: [null, 5] });
  t.deepEqual({ ...differences(record, undefined, isSecret) }, { a: ['x', null], h: [5, null] });
  t.deepEqual({ ...differences(undefined, {}, isSecret) }, {}, 'that it is new is worth a record');
});

test('of a secret it says only that it changed, at any depth', (t) => {
  const of = (value: string) => ({
    id: value,
    password: value,
    privateKey: value,
    users: [{ pass: value, name: 'n' }],
    token: { inner: value },
    keys: [value],
    mldsa65Seed: value,
    decryption: value,
    preSharedKey: value,
  });
  const found = differences(of('one'), of('two'), isSecret) ?? {};
  t.is(Object.keys(found).length, 9);
  t.true(Object.values(found).every(([was, is]) => was === '(secret)' && is === '(secret)'));
  t.deepEqual(
    { ...differences({ password: '' }, { password: 'x' }, isSecret) },
    { password: ['', '(secret)'] },
  );
  t.deepEqual(
    { ...differences({ publicKey: 'a', keepAlive: 1 }, { publicKey: 'b', keepAlive: 2 }, isSecret) },
    {
      publicKey: ['a', 'b'],
      keepAlive: [1, 2],
    },
  );
});

test('texts are cut, and so are lists of fields', (t) => {
  const { long } = differences({ long: 'a'.repeat(300) }, { long: 'b'.repeat(201) }, isSecret) ?? {};
  t.is(long?.[0], `${'a'.repeat(199)}…`);
  t.is(String(long?.[1]).length, 200);
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`f${i}`, i + 1]));
  const found = differences(undefined, many, isSecret) ?? {};
  t.is(Object.keys(found).length, 101);
  t.deepEqual(found['…'], [null, '50 further fields']);
  t.deepEqual(Object.keys(differences({}, JSON.parse('{"__proto__":{"a":1}}') as object, isSecret) ?? {}), [
    '__proto__.a',
  ]);
});

/** Fields of a client that are shown; a field that comes to be must be put here or among the secret ones. */
const SHOWN = [
  ...[
    'email',
    'flow',
    'security',
    'totalGB',
    'expiryTime',
    'enable',
    'limitIp',
    'limitHwid',
    'tgId',
    'group',
  ],
  ...[
    'comment',
    'reset',
    'resetDay',
    'resetMax',
    'trafficReset',
    'trafficResetDay',
    'reverse',
    'depletedCause',
  ],
  ...['resetCount', 'adTag'],
];
/** of the panel's own book-keeping */
const LEFT_OUT = ['countedSince', 'createdAt', 'updatedAt', 'elsewhereUp', 'elsewhereDown'];

test('it is decided of each field of a client whether its value is shown', (t) => {
  const secret = new Set(clients.secret);
  const undecided = Object.keys(declaredFields).filter(
    (name) => !SHOWN.includes(name) && !LEFT_OUT.includes(name) && !secret.has(name),
  );
  t.deepEqual(undecided, []);
  t.deepEqual(
    SHOWN.filter((name) => secret.has(name) || secretNames(clients.secret)(name)),
    [],
  );
});

test('secrets in addresses are hidden, and the rest of them is shown', (t) => {
  const shown = (text: string) => differences({ url: '' }, { url: text }, isSecret)?.['url']?.[1];
  t.is(shown('https://ann:hidden@site.example/x'), 'https://(secret)@site.example/x');
  t.is(
    shown('https://site.example/x?page=1&api_token=hidden&z=2'),
    'https://site.example/x?page=1&api_token=(secret)&z=2',
  );
  t.is(shown('socks5://hidden@[2001:db8::1]:1080'), 'socks5://(secret)@[2001:db8::1]:1080');
  t.is(shown('ann@site.example/a?b=c'), 'ann@site.example/a?b=c');
  const long = `https://site.example/${'x'.repeat(190)}?token=${'hidden'.repeat(100)}`;
  t.false(String(shown(long)).includes('hidden'));
});

test('a large record is compared in short steps', (t) => {
  const template = (tag: string) => ({
    outbounds: Array.from({ length: 20_000 }, (_, i) => ({
      tag: i === 19_999 ? tag : `out-${i}`,
      settings: { vnext: [{ address: '192.0.2.1', port: 443, users: [{ id: `id-${i}` }] }] },
    })),
  });
  const steps = differencesInSteps(template('before'), template('after'), isSecret);
  let [count, longest] = [0, 0];
  for (;;) {
    const begun = performance.now();
    const { done, value } = steps.next();
    longest = Math.max(longest, performance.now() - begun);
    count += 1;
    if (!done) continue;
    t.deepEqual({ ...value }, { 'outbounds.19999.tag': ['before', 'after'] });
    break;
  }
  t.true(count > 200, `${count} steps`);
  t.true(longest < 200, `the longest took ${longest} ms`);
});
