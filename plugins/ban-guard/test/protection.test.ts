// Addresses that are never banned.
import type { networkInterfaces } from 'node:os';
import test from 'ava';
import { Protection } from '../protection.js';

const made = (sessions: readonly string[], own: () => ReturnType<typeof networkInterfaces> = () => ({})) =>
  new Protection(
    {
      sessions: { list: () => sessions.map((ip) => ({ ip })) as never },
      listeners: { proxies: { trusts: (address: string) => address === '198.51.100.80' } as never },
      clientAddresses: { isSpared: (address: string) => address === '198.51.100.81' } as never,
    },
    own,
  );

test('the whole /64 of an admin is protected, because a ban has all of it', (t) => {
  const protection = made(['2001:db8:0:1::7', '::ffff:198.51.100.7', 'unknown']);
  t.is(protection.of('2001:db8:0:1:aaaa::9'), 'admin');
  t.is(protection.of('198.51.100.7'), 'admin');
  t.is(protection.of('2001:db8:0:2::7'), '');
  t.is(protection.of('198.51.100.8'), '');
});

test('this machine, proxies, lists and what is no address are protected', (t) => {
  const own = (address: string) => ({ address }) as never;
  const protection = made([], () => ({ eth0: [own('198.51.100.1'), own('2001:db8:0:5::1')] }));
  t.is(protection.of('198.51.100.1'), 'private');
  t.is(protection.of('2001:db8:0:5::99'), 'private');
  t.is(protection.of('198.51.100.80'), 'private');
  t.is(protection.of('198.51.100.81'), 'listed');
  t.is(protection.of('example.org'), 'private');
  t.is(protection.of('198.51.100.2'), '');
});
