// The header If-Match: one version, several, or any.
import test from 'ava';
import { askedVersions } from '../if-match.js';

const [ONE, TWO] = ['0123456789abcdef', 'fedcba9876543210'];

test('any of several versions will do, and a star is no condition', (t) => {
  t.is(askedVersions({}), undefined);
  t.is(askedVersions({ 'if-match': ' * ' }), undefined);
  t.deepEqual(askedVersions({ 'if-match': `"${ONE}"` }), [ONE]);
  t.deepEqual(askedVersions({ 'if-match': `"${ONE}" ,\t"${TWO}"` }), [ONE, TWO]);
});

test('what is no version in quotes is refused', (t) => {
  for (const header of ['', ONE, `W/"${ONE}"`, `"${ONE}",`, `"${ONE}x"`, `"${ONE}", *`])
    t.throws(() => askedVersions({ 'if-match': header }), { message: /If-Match/ }, header);
  const eleven = Array.from({ length: 11 }, () => `"${ONE}"`).join();
  t.throws(() => askedVersions({ 'if-match': eleven }), { message: /If-Match/ });
});
