import test from 'ava';
import { BlockList } from 'node:net';
import { canonicalAddress } from '../host-name.js';
import { NetworkList } from '../network-list.js';

/** The same numbers each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('finds what the list of Node finds, for networks of any length', (t) => {
  const below = numbers(7);
  const ipv4 = (): string => [1, 2, 3, 4].map(() => [0, 1, 127, 128, 255][below(5)]).join('.');
  const ipv6 = (): string =>
    [1, 2, 3, 4, 5, 6, 7, 8].map(() => ['0', '1', '8000', 'ffff'][below(4)]).join(':');
  let found = 0;
  for (let round = 0; round < 3000; round++) {
    const isLong = below(2) === 0;
    const [make, bits, family] = isLong ? ([ipv6, 128, 'ipv6'] as const) : ([ipv4, 32, 'ipv4'] as const);
    const network = canonicalAddress(make()) as string;
    // One that became IPv4 has bits of its own.
    if (isLong !== network.includes(':')) continue;
    const length = below(bits + 1);
    const peer = new BlockList();
    peer.addSubnet(network, length, family);
    const list = new NetworkList([`${network}/${length}`]);
    for (const address of [network, make(), make()].map((text) => canonicalAddress(text) as string)) {
      const expected = isLong === address.includes(':') && peer.check(address, family);
      t.is(list.has(address), expected, `${address} in ${network}/${length}`);
      if (expected) found++;
    }
  }
  t.true(found > 2000);
});

test('addresses of one family are in no network of the other, except IPv4 within IPv6', (t) => {
  t.false(new NetworkList(['::/0']).has('192.0.2.1'));
  t.false(new NetworkList(['0.0.0.0/0']).has('2001:db8::1'));
  t.true(new NetworkList(['::ffff:192.0.2.0/120']).has('192.0.2.1'));
  t.true(new NetworkList(['192.0.2.0/24']).has('::ffff:c000:207'));
  t.false(new NetworkList(['192.0.2.0/24']).has('::ffff:c000:307'));
});

test('looks through all entries, and finds nothing in none, nor a text that is no address', (t) => {
  const list = new NetworkList(['127.0.0.0/8', '::1', '198.51.100.7']);
  for (const address of ['127.255.0.1', '::1', '0:0:0:0:0:0:0:1', '198.51.100.7', 'fe80::1%eth0'])
    t.is(list.has(address), !address.startsWith('fe80'), address);
  for (const address of ['198.51.100.6', '::2', 'example.org', '', '127.0.0'])
    t.false(list.has(address), address);
  t.false(new NetworkList([]).has('127.0.0.1'));
});

test('one spelling of an address is not taken for another that was asked about before', (t) => {
  for (const [text, address] of [
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:db8::2', '2001:db8::2'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['fe80::1', 'fe80::1'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['::ffff:c000:307', '192.0.3.7'],
  ] as const)
    for (const _ of [1, 2]) t.is(canonicalAddress(text), address);
});
