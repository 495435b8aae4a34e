// The lines that fail2ban reads.
import test from 'ava';
import { fail2banFiles } from '../fail2ban/files.js';
import { encoded, lineOf } from '../fail2ban/log-lines.js';
import { HOSTILE } from './hostile.js';

const LINE = /^\d{10} ban 198\.51\.100\.1 limitIp \[[A-Za-z0-9._@+%-]{0,300}\]\n$/;

test('whatever an email is, a ban is one line of letters, digits and six signs', (t) => {
  for (const email of HOSTILE)
    t.regex(
      lineOf(
        { address: '198.51.100.1', scope: 'proxy', seconds: 60, reason: 'limitIp', email },
        1_790_000_000_123,
      ),
      LINE,
      JSON.stringify(email),
    );
});

test('an email can be read from its line', (t) => {
  t.is(encoded('ann+1@example.org'), 'ann+1@example.org');
  t.is(encoded('a b|é'), 'a%20b%7C%C3%A9');
});

test('a data folder that fail2ban would read as something else is refused', (t) => {
  const ports = { open: [22], panel: [2053] };
  for (const folder of [
    '/a b',
    '/a\nb',
    '/%(x)s',
    '/<x>',
    '/a*',
    '/a[1]',
    "/a'b",
    'relative',
    '/a;b',
    '/a#b',
  ])
    t.throws(() => fail2banFiles(folder, ports), { message: /its path may have/ }, folder);
  t.is(fail2banFiles('/var/lib/weir', ports).length, 6);
});

test('the files name each port once, and no value can end its quotes', (t) => {
  const text = fail2banFiles('/var/lib/weir', { open: [22, 443], panel: [443] })
    .map((one) => one.text)
    .join('\n');
  t.true(text.includes('th dport != { 22, 443 }'));
  t.true(text.includes('tcp dport { 443 }'));
  t.is(text.match(/^ignoreip =$/gm)?.length, 2);
});
