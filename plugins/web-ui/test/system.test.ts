// The logic of the pages of the system.
import test from 'ava';
import { Secret, URI } from 'otpauth';
import { isSettled, levelOf, type ListedPlugin, shownPlugins } from '../page/system/plugin-state.js';
import { enrolment, newSecret } from '../page/system/totp.js';
import { endOf, usualDays } from '../page/system/token-end.js';

const plugin = (name: string, state: ListedPlugin['state'], reason = ''): ListedPlugin => ({
  name,
  state,
  reason,
  version: '1.0.0',
  waiting: '',
  about: `About ${name}.`,
  outside: false,
});

test('plugins with trouble come first, then by name', (t) => {
  const all = [
    plugin('b', 'running'),
    plugin('a', 'running'),
    plugin('c', 'running', 'part is off'),
    plugin('d', 'failed'),
  ];
  t.deepEqual(
    shownPlugins(all, '').map(({ name }) => name),
    ['d', 'c', 'a', 'b'],
  );
  t.deepEqual(
    shownPlugins(all, ' ABOUT C').map(({ name }) => name),
    ['c'],
  );
  t.deepEqual(all.map(levelOf), ['good', 'good', 'warn', 'bad']);
});

test('a list is settled when no plugin is being switched', (t) => {
  t.true(isSettled([plugin('a', 'running')]));
  t.false(isSettled([plugin('a', 'running'), plugin('b', 'switching')]));
});

test('a token ends after its days, or never', (t) => {
  t.is(endOf('', 5), 0);
  t.is(endOf('30', 5), 30 * 86_400_000 + 5);
  t.is(endOf(usualDays('node'), 5), 0, 'a node is not out of reach after a while');
  t.is(endOf(usualDays(''), 5), 90 * 86_400_000 + 5);
});

test('an authenticator reads the secret and the address of an enrolment', (t) => {
  const secret = newSecret((bytes) => bytes.map((_, index) => 255 - index));
  t.is(Secret.fromBase32(secret).bytes.length, 20);
  const read = URI.parse(enrolment(secret, 'ann & co', 'panel.example.org'));
  t.is(read.secret.base32, secret);
  t.is(read.issuer, 'Weir');
});
