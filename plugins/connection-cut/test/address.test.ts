import test from 'ava';
import { spell, spellWords, written } from '../address.js';

test('every spelling of an address is one', (t) => {
  t.is(spell('192.0.2.7'), '192.0.2.7');
  t.is(spell('::ffff:192.0.2.7'), '192.0.2.7');
  t.is(spell('::FFFF:c000:207'), '192.0.2.7');
  t.is(spell('2001:db8::7'), '20010db8000000000000000000000007');
  t.is(spell('2001:DB8:0:0:0:0:0:7'), spell('2001:db8::7'));
  t.is(spell('::'), '0'.repeat(32));
  t.is(spell('::1'), `${'0'.repeat(31)}1`);
  t.is(spell('2001:db8::'), '20010db8000000000000000000000000');
  t.is(spell('64:ff9b::192.0.2.7'), '0064ff9b0000000000000000c0000207');
});

test('what names no machine is no address', (t) => {
  for (const text of ['', '@', 'a.example', '192.0.2', '192.0.2.256', '1:2:3', 'fe80::1%eth0', '[::1]', '127.0.0.1 or dst 0.0.0.0/0']) t.is(spell(text), undefined, text);
});

// As the kernel of a little-endian machine shows them; all that the core is built for are.
test("the kernel's words are the same address", (t) => {
  t.is(spellWords('0100007F'), '127.0.0.1');
  t.is(spellWords('070200C0'), '192.0.2.7');
  t.is(spellWords('0000000000000000FFFF00000100007F'), '127.0.0.1');
  t.is(spell(written('20010db8000000000000000000000007')), '20010db8000000000000000000000007');
});

test('an address is written as others read it', (t) => {
  t.is(written('192.0.2.7'), '192.0.2.7');
  t.is(written(spell('2001:db8::7') ?? ''), '2001:0db8:0000:0000:0000:0000:0000:0007');
  t.is(spell(written(spell('2001:db8::7') ?? '')), spell('2001:db8::7'));
});
