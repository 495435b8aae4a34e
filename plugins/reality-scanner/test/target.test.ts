// Targets and networks, in all spellings.
import test from 'ava';
import { networkOf, targetOf } from '../target.js';
import { entriesIn, MOST_TARGETS, taskListOf } from '../task-list.js';

test('reads names, international names and addresses, with and without a port', (t) => {
  for (const [given, host, port] of [
    ['example.com', 'example.com', 443],
    ['example.com:8443', 'example.com', 8443],
    [' Example.COM. ', 'example.com', 443],
    ['example.com.:8443', 'example.com', 8443],
    ['bücher.example', 'xn--bcher-kva.example', 443],
    ['пример.example:8443', 'xn--e1afmkfd.example', 8443],
    ['192.0.2.1', '192.0.2.1', 443],
    ['192.0.2.1:1', '192.0.2.1', 1],
    ['2001:DB8:0::1', '2001:db8::1', 443],
    ['[2001:db8::1]', '2001:db8::1', 443],
    ['[2001:db8::1]:65535', '2001:db8::1', 65_535],
    ['[::ffff:127.0.0.1]:443', '127.0.0.1', 443],
    ['localhost', 'localhost', 443],
  ] as const) {
    const target = targetOf(given);
    t.deepEqual([target.host, target.port], [host, port], given);
    t.is(target.isAddress, /^[\d.]+$|:/.test(host), given);
  }
});

test('refuses what is neither, and says what is wrong', (t) => {
  for (const [given, says] of [
    ['', /"" is not a host name/],
    ['.', /is not a host name/],
    ['a b', /is not a host name/],
    ['*.example.com', /is not a host name/],
    ['-a.example', /is not a host name/],
    ['a..example', /is not a host name/],
    [`${'a'.repeat(64)}.example`, /is not a host name/],
    ['user@example.com', /is not a host name/],
    ['example.com/path', /is not a host name/],
    ['example.com?x', /is not a host name/],
    ['example.com\u0000', /is not a host name/],
    ['2130706433', /is not a host name/],
    ['0x7f.1', /is not a host name/],
    ['127.1', /is not a host name/],
    ['[example.com]', /is not a host name/],
    ['[2001:db8::1', /is not a host name/],
    ['[]:443', /is not a host name/],
    ['fe80::1%eth0', /is not a host name/],
    ['[fe80::1%eth0]:443', /is not a host name/],
    ['2001:db8::1:99999', /is not a host name/],
    ['https://example.com', /is a URL; write only its host/],
    ['example.com:', /the port of "example.com:" is not a number/],
    ['example.com:0', /the port/],
    ['example.com:65536', /the port/],
    ['example.com:+443', /the port/],
    ['example.com:443:1', /the port/],
    ['example.com:4 4', /the port/],
    ['x'.repeat(2000), /longer than 1024 characters/],
  ] as const)
    t.throws(() => targetOf(given), { message: says }, given);
  const { message = '' } = t.throws(() => targetOf('y'.repeat(1000))) ?? {};
  t.true(message.length < 300, 'a long one is not repeated');
});

test('a network has the addresses from its first one on, at most 256', (t) => {
  const ends = (given: string) => {
    const { addresses, size } = networkOf(given);
    return [addresses[0], addresses.at(-1), addresses.length, size];
  };
  t.deepEqual(ends('192.0.2.77/24'), ['192.0.2.0', '192.0.2.255', 256, 256n]);
  t.deepEqual(ends('192.0.2.77/30'), ['192.0.2.76', '192.0.2.79', 4, 4n]);
  t.deepEqual(ends('203.0.113.9/32'), ['203.0.113.9', '203.0.113.9', 1, 1n]);
  t.deepEqual(ends('198.51.100.1/8'), ['198.0.0.0', '198.0.0.255', 256, 1n << 24n]);
  t.deepEqual(ends('255.255.255.255/0'), ['0.0.0.0', '0.0.0.255', 256, 1n << 32n]);
  t.deepEqual(ends('2001:db8::42/126'), ['2001:db8::40', '2001:db8::43', 4, 4n]);
  t.deepEqual(ends('2001:db8::42/0'), ['::', '::ff', 256, 1n << 128n]);
  t.deepEqual(ends('[2001:db8:1::]/64'), ['2001:db8:1::', '2001:db8:1::ff', 256, 1n << 64n]);
  for (const given of ['192.0.2.0/33', '2001:db8::/129', '192.0.2.0/', '192.0.2/24', 'example.com/24'])
    t.throws(() => networkOf(given), { message: /is not a network/ }, given);
  t.throws(() => networkOf('::ffff:192.0.2.0/120'), { message: /is not a network/ });
});

test('a list has each target once, names what is not valid, and is limited', (t) => {
  const { tasks, invalid, cut } = taskListOf(
    entriesIn('a.example, A.example.:443\n a.example:8443,, 192.0.2.0/30 192.0.2.1 b_c/24 https://x'),
  );
  t.deepEqual(
    tasks.map(({ target: { host, port }, network }) => [host, port, network]),
    [
      ['a.example', 443, undefined],
      ['a.example', 8443, undefined],
      ['192.0.2.0', 443, '192.0.2.0/30'],
      ['192.0.2.1', 443, undefined],
      ['192.0.2.2', 443, '192.0.2.0/30'],
      ['192.0.2.3', 443, '192.0.2.0/30'],
    ],
  );
  t.deepEqual(
    invalid.map(({ entry }) => entry),
    ['b_c/24', 'https://x'],
  );
  t.is(cut.size, 0);
  const named = taskListOf(['192.0.2.1', '192.0.2.0/30']).tasks.filter(
    ({ network }) => network === undefined,
  );
  t.deepEqual(
    named.map(({ target: { host } }) => host),
    ['192.0.2.1'],
    'an address that is named counts as that',
  );
  const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}.example`);
  t.is(taskListOf(names(MOST_TARGETS)).tasks.length, MOST_TARGETS);
  t.is(taskListOf(Array<string>(2048).fill('a.example')).tasks.length, 1);
  t.is(taskListOf(['192.0.2.0/24', '198.51.100.0/16']).tasks.length, MOST_TARGETS);
  for (const many of [
    names(513),
    ['192.0.2.0/24', '198.51.100.0/24', 'one.example'],
    names(512).concat('a b'),
    Array<string>(2049).fill('a.example'),
  ])
    t.throws(() => taskListOf(many), { message: /more than 512 targets/ });
});
