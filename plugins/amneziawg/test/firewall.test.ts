// The text for nftables, and ports that lead to clients.
import test from 'ava';
import { noTable, portsText, tableText } from '../firewall.js';
import { forwardedPorts } from '../forwarded-ports.js';
import { peerLines, peerOf } from '../peers.js';

const OPTIONS = {
  inboundId: 7,
  server: {},
  listen: '',
  port: 51820,
  openPrivate: false,
  panelPorts: [2053],
  forwarded: [],
  panel: 'abcdef',
};
const peer = (clientId: number, forwardedPorts: string, allowedIPs = `10.8.1.${clientId}/32`) =>
  peerOf({
    inboundId: 7,
    clientId,
    name: `i7.c${clientId}`,
    account: { protocol: 'amneziawg', publicKey: `${'A'.repeat(42)}E=`, allowedIPs, forwardedPorts },
  }) as NonNullable<ReturnType<typeof peerOf>>;

test('private networks, the panel and other clients are closed unless an admin opens them', (t) => {
  const closed = tableText(OPTIONS);
  for (const part of [
    '169.254.0.0/16',
    'fc00::/7',
    '10.0.0.0/8',
    'tcp dport { 2053 } drop',
    'oifname "awg7" drop',
  ])
    t.true(closed.includes(part), part);
  t.is(closed.match(/ip daddr @private4 drop/g)?.length, 2, 'to this machine, and past it');
  t.true(closed.includes('meta nfproto ipv6 drop'), 'no IPv6 without a network for it');
  const open = tableText({ ...OPTIONS, openPrivate: true });
  t.false(open.includes('@private4 drop'));
  t.false(open.includes('2053'));
  t.true(open.includes('oifname "awg7" drop'), 'clients of one inbound never reach each other');
});

test('a way out that is named is the only one', (t) => {
  const text = tableText({
    ...OPTIONS,
    server: { externalInterface: 'eth0.5', ipv6ExternalInterface: 'he-ipv6' },
  });
  t.true(text.includes('meta nfproto ipv4 oifname "eth0.5" masquerade'));
  t.true(text.includes('meta nfproto ipv6 oifname "he-ipv6" masquerade'));
  t.true(text.includes('meta nfproto ipv4 oifname != "eth0.5" drop'));
  t.true(text.includes('meta nfproto ipv6 oifname != "he-ipv6" drop'));
});

test('an inbound that listens on one address is closed on others', (t) => {
  t.true(
    tableText({ ...OPTIONS, listen: '203.0.113.2' }).includes('udp dport 51820 ip daddr != 203.0.113.2 drop'),
  );
  t.false(tableText({ ...OPTIONS, listen: '0.0.0.0' }).includes('udp dport 51820'));
});

test('a name cannot end its quotes', (t) => {
  for (const externalInterface of ['eth0" accept; #', 'a\nb', 'x'.repeat(16), 'a b', '$(x)'])
    t.throws(() => tableText({ ...OPTIONS, server: { externalInterface } }), {
      message: /externalInterface/,
    });
  t.throws(() => tableText({ ...OPTIONS, listen: '::1 accept' }), { message: /listen/ });
});

test('replacing and removing a table works whether it is there or not', (t) => {
  t.true(
    tableText(OPTIONS).startsWith(
      'table inet weir_abcdef_awg7\ndelete table inet weir_abcdef_awg7\ntable inet',
    ),
  );
  t.is(noTable('abcdef', 7), 'table inet weir_abcdef_awg7\ndelete table inet weir_abcdef_awg7\n');
});

test('a port leads to one client, the first; what is left out is told', (t) => {
  const taken: string[] = [];
  const ports = forwardedPorts(
    [
      peer(3, '8050,90'),
      peer(2, '80,8000-8100', '10.8.1.2/32,fd00::2/128'),
      peer(4, '65535,100-200'),
      peer(5, '8100,8101'),
    ],
    ({ user }, range) => taken.push(`${user.clientId}: ${range}`),
  );
  t.deepEqual(taken, ['3: 8050', '5: 8100']);
  t.is(
    portsText('abcdef', 7, ports),
    [
      'flush map inet weir_abcdef_awg7 ports4',
      'add element inet weir_abcdef_awg7 ports4 { 80 : 10.8.1.2, 8000-8100 : 10.8.1.2, 90 : 10.8.1.3, 65535 : 10.8.1.4, 100-200 : 10.8.1.4, 8101 : 10.8.1.5 }',
      'flush map inet weir_abcdef_awg7 ports6',
      'add element inet weir_abcdef_awg7 ports6 { 80 : fd00::2, 8000-8100 : fd00::2 }',
      '',
    ].join('\n'),
  );
  t.deepEqual(
    forwardedPorts([peer(2, '0,70000,9-8,a,80;drop,-1')], () => {}),
    [],
  );
  t.deepEqual(
    forwardedPorts([peer(2, '80', '10.8.1.0/28')], () => {}).map(({ v4 }) => v4),
    [''],
    'a network has no one address',
  );
});

test('a peer is changed only where it differs', (t) => {
  const one = peer(2, '', '10.8.1.2/32,fd00:0:0::2/128');
  const now = { preSharedKey: '', endpoint: '', handshake: 0, received: 0, sent: 0, keepAlive: 0 };
  t.deepEqual(peerLines(one, { ...now, allowedIPs: ['fd00::2/128', '10.8.1.2/32'] }), []);
  t.deepEqual(peerLines(one, { ...now, keepAlive: 25, allowedIPs: ['fd00::2/128', '10.8.1.2/32'] }), [
    `public_key=${one.publicKey}`,
    'persistent_keepalive_interval=0',
  ]);
  t.deepEqual(peerLines(one, { ...now, preSharedKey: 'ab', allowedIPs: ['10.8.1.2/32'] }), [
    `public_key=${one.publicKey}`,
    `preshared_key=${'0'.repeat(64)}`,
    'replace_allowed_ips=true',
    'allowed_ip=10.8.1.2/32',
    'allowed_ip=fd00:0:0::2/128',
  ]);
});
