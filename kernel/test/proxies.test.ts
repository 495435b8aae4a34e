import type { IncomingMessage } from 'node:http';
import test from 'ava';
import { isLoopback } from '../../net/host-name.js';
import { Proxies } from '../../net/proxies.js';

const from = (remoteAddress: string, headers: Record<string, string> = {}, socket: object = {}) =>
  ({ socket: { remoteAddress, ...socket }, headers }) as unknown as IncomingMessage;
const forwarded = (remote: string, hops: string) => from(remote, { 'x-forwarded-for': hops });

test('without trusted proxies, the peer of the connection is the caller, whatever it claims', (t) => {
  const none = new Proxies([]);
  const request = from('127.0.0.1', {
    'x-forwarded-for': '198.51.100.7',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    host: 'panel.example:2053',
  });
  t.is(none.callerAddress(request), '127.0.0.1');
  t.is(none.requestHost(request), 'panel.example');
  t.false(none.isSecure(request));
  t.true(none.isSecure(from('127.0.0.1', {}, { encrypted: true })));
});

test('reads hops from the right; the first untrusted one is the caller', (t) => {
  const proxies = new Proxies(['127.0.0.1', '10.0.0.0/8', '2001:db8::/32']);
  const cases: [remote: string, hops: string, caller: string][] = [
    ['127.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['127.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['127.0.0.1', '198.51.100.7, 10.1.2.3', '198.51.100.7'],
    ['127.0.0.1', '1.1.1.1, 198.51.100.7, 10.1.2.3, 10.9.9.9', '198.51.100.7'],
    ['127.0.0.1', '10.1.2.3', '10.1.2.3'],
    ['127.0.0.1', '', '127.0.0.1'],
    ['127.0.0.1', 'unknown', '127.0.0.1'],
    ['127.0.0.1', '198.51.100.7, garbage, 10.1.2.3', '10.1.2.3'],
    ['2001:db8::1', '2001:db8:5::2,2606:4700::1111', '2606:4700::1111'],
    ['11.0.0.1', '198.51.100.7', '11.0.0.1'],
  ];
  for (const [remote, hops, caller] of cases)
    t.is(proxies.callerAddress(forwarded(remote, hops)), caller, `${remote} ${hops}`);
});

test('treats an IPv4-mapped IPv6 address as the IPv4 address', (t) => {
  const proxies = new Proxies(['127.0.0.1']);
  t.is(proxies.callerAddress(from('::ffff:198.51.100.7')), '198.51.100.7');
  t.is(proxies.callerAddress(forwarded('::ffff:127.0.0.1', '::ffff:198.51.100.7')), '198.51.100.7');
  t.is(
    proxies.callerAddress(forwarded('::ffff:127.0.0.1', '198.51.100.7, ::FFFF:127.0.0.1')),
    '198.51.100.7',
  );
  t.is(proxies.callerAddress(from('::1')), '::1');
  t.true(proxies.isSecure(from('::ffff:127.0.0.1', { 'x-forwarded-proto': 'https' })));
});

test('believes host and TLS of a trusted proxy', (t) => {
  const proxies = new Proxies(['127.0.0.1']);
  t.is(
    proxies.requestHost(from('127.0.0.1', { host: 'inner:1', 'x-forwarded-host': 'outer.example:443' })),
    'outer.example',
  );
  t.is(proxies.requestHost(from('127.0.0.1', { host: '[2001:db8::1]:2053' })), '2001:db8::1');
  t.is(proxies.requestHost(from('127.0.0.1', {})), '');
  t.true(proxies.isSecure(from('127.0.0.1', { 'x-forwarded-proto': 'https' })));
  t.false(proxies.isSecure(from('127.0.0.1', { 'x-forwarded-proto': 'http' })));
  t.false(proxies.isSecure(from('127.0.0.2', { 'x-forwarded-proto': 'https' })));
});

test('names an entry that is neither address nor CIDR', (t) => {
  for (const entry of [
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/1e1',
    '::/129',
    '10.0.0',
    '',
    '/8',
    // The zone would be ignored, and the whole of IPv4 trusted.
    'fe80::1%eth0',
    '::ffff:10.0.0.0/8',
  ]) {
    t.throws(() => new Proxies(['127.0.0.1', entry]), {
      message: `"${entry}" is neither an address nor a CIDR`,
    });
  }
});

test('compares as many bits as the prefix says', (t) => {
  t.true(new Proxies(['0.0.0.0/0']).trusts('203.0.113.1'));
  t.false(new Proxies(['203.0.113.0/25']).trusts('203.0.113.128'));
  t.true(new Proxies(['203.0.113.0/25']).trusts('203.0.113.127'));
  t.true(new Proxies(['2001:db8::/33']).trusts('2001:db8:7fff::1'));
  t.false(new Proxies(['2001:db8::/33']).trusts('2001:db8:8000::1'));
  t.false(new Proxies(['127.0.0.1']).trusts('not an address'));
  t.true(new Proxies(['::ffff:10.0.0.0/104']).trusts('10.255.0.1'));
  t.false(new Proxies(['::ffff:10.0.0.0/104']).trusts('11.0.0.1'));
});

test('recognises addresses of this machine, and rejects similar ones', (t) => {
  for (const host of [
    'localhost',
    'LocalHost.',
    'x.localhost',
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '::ffff:127.0.0.1',
  ])
    t.true(isLoopback(host), host);
  for (const host of [
    '',
    '0.0.0.0',
    '::',
    '128.0.0.1',
    '127.0.0.1.example.com',
    '127.example',
    'localhost.example',
    '::2',
    '::ffff:10.0.0.1',
  ])
    t.false(isLoopback(host), host);
});

test('takes the id of a request from a trusted proxy only, and only if it may stand in a log', (t) => {
  const UUID = /^[0-9a-f-]{36}$/;
  const id = (remote: string, sent: string) =>
    new Proxies(['127.0.0.1']).requestId(from(remote, { 'x-request-id': sent }));
  t.is(id('127.0.0.1', '7f3a0c0b9d8e4f61'), '7f3a0c0b9d8e4f61');
  t.regex(id('198.51.100.7', '7f3a0c0b9d8e4f61'), UUID);
  for (const sent of ['', 'short', 'with a blank', 'line\u2028break', `"}{"level":"error`, 'a'.repeat(129)])
    t.regex(id('127.0.0.1', sent), UUID, sent);
  t.regex(new Proxies([]).requestId(from('127.0.0.1', { 'x-request-id': '7f3a0c0b9d8e4f61' })), UUID);
  t.not(id('127.0.0.1', ''), id('127.0.0.1', ''));
});
