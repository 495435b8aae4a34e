// The same for many more values: those that fit one field, tried in all others.
import test from 'ava';
import { Agreement } from './agree.js';

let agreement: Agreement;
test.before(async () => {
  agreement = await Agreement.boot();
});
test.after.always(() => agreement?.panel[Symbol.asyncDispose]());

const VALUES: readonly unknown[] = [
  ...[
    5,
    -1,
    0,
    1,
    1.5,
    70_000,
    1e12,
    true,
    false,
    null,
    [],
    {},
    '',
    ' ',
    'x',
    'a b',
    '5',
    '5-9',
    '-1',
    'é\n',
  ],
  ...[
    ['x'],
    [5],
    [''],
    [{}],
    { a: 1 },
    'none',
    'tcp',
    'http',
    'password',
    '2022-blake3-aes-128-gcm',
    '1.2.3.4',
  ],
  ...['::1', '10.0.0.0/8', 'fd00:8::/64', 'www.example.com', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='],
  ...['AAAAAAAAAAAAAAAAAAAAAA==', 'mlkem768x25519plus.native.600s.x', 'h2', ['h2', 'http/1.1'], '/a/', 'a,b'],
];

test('every field of every form of inbounds', async (t) => {
  t.timeout(1_200_000);
  let count = 0;
  for (const sweep of await agreement.sweeps()) count += await agreement.sweep(t, VALUES, sweep);
  t.true(count > 8000, `only ${count}`);
});

test('every setting', async (t) => {
  t.timeout(1_200_000);
  t.true((await agreement.settings(t, VALUES)) > 3000);
});
