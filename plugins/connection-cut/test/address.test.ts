import test from 'ava';
import { endianness } from 'node:os';
import { testUnless } from '../../../test/harness/left-out.js';
import { spell, written } from '../address.js';

test('treats every notation of an address as one', (t) => {
  t.is(spell('::ffff:192.0.2.7'), spell('192.0.2.7'));
  t.is(spell('::FFFF:c000:207'), spell('192.0.2.7'));
  t.is(spell('2001:DB8:0:0:0:0:0:7'), spell('2001:db8::7'));
  t.is(spell('64:ff9b::192.0.2.7'), spell('64:ff9b::c000:207'));
  t.not(spell('::192.0.2.7'), spell('192.0.2.7'));
});

test('rejects addresses that name no machine', (t) => {
  for (const text of [
    '',
    '@',
    'a.example',
    '192.0.2',
    '192.0.2.256',
    '1:2:3',
    'fe80::1%eth0',
    '[::1]',
    '127.0.0.1 or dst 0.0.0.0/0',
  ])
    t.is(spell(text), undefined, text);
});

const onLittleEndian = testUnless(endianness() === 'LE' ? '' : 'the examples are of a little-endian machine');
onLittleEndian("the notation is that of the kernel's tables", (t) => {
  t.is(spell('127.0.0.1'), '0100007F');
  t.is(spell('192.0.2.7'), '070200C0');
  t.is(spell('::1'), '00000000000000000000000001000000');
  t.is(spell('2001:db8::7'), 'B80D0120000000000000000007000000');
});

test('an address is written as others read it', (t) => {
  for (const [text, long] of [
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::7', '2001:0db8:0000:0000:0000:0000:0000:0007'],
    ['::', '0000:0000:0000:0000:0000:0000:0000:0000'],
    ['2001:db8::', '2001:0db8:0000:0000:0000:0000:0000:0000'],
  ] as const) {
    t.is(written(spell(text) ?? ''), long);
    t.is(spell(long), spell(text));
  }
});
