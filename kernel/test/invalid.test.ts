import test from 'ava';
import { bool, int, list, refuseHidden, shape, validate, validateInSlices } from '../index.js';

test('reports all findings at once, as one 400 with a message and a list', (t) => {
  const error = t.throws(() => validate(shape({ a: int(), b: bool() }), { a: 'x', b: 'y' }));
  t.like(error, {
    status: 400,
    code: 'KERNEL_INVALID',
    message: 'a must be a number; b must be a boolean',
    issues: [
      { path: 'a', message: 'a must be a number' },
      { path: 'b', message: 'b must be a boolean' },
    ],
  });
});

test('rejects a large value with the same error, and returns a valid one', async (t) => {
  const numbers = Array.from({ length: 2000 }, (_, i) => i);
  t.deepEqual(await validateInSlices(list(int()), numbers), numbers);
  const error = await t.throwsAsync(validateInSlices(list(int()), [...numbers, ...Array(51).fill('x')]));
  t.like(error, { status: 400, code: 'KERNEL_INVALID' });
  t.regex(error?.message ?? '', /^\[2000\] must be a number; .*; and at least 1 more$/);
});

test('rejects an invisible character with its field and code point', (t) => {
  t.notThrows(() => refuseHidden('name', 'Zoë 👩‍🚀', 'name'));
  t.throws(() => refuseHidden('name', 'ad\u200ba', 'name'), {
    code: 'KERNEL_INVALID',
    message: 'name holds the invisible character U+200B; leave it out',
  });
});
