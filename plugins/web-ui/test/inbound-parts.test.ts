// Parts of the page of an inbound: copies, imports, links, the target of REALITY, certificates, fallbacks.
import test from 'ava';
import { certificateOf, withCertificate } from '../page/inbounds/certificate.js';
import { anyPort, copyOf, importedOf, linkTo, lossesOf } from '../page/inbounds/copying.js';
import type { ProtocolsReply } from '../page/inbounds/document.js';
import { BLANK, moved, rowsOf, sentOf } from '../page/inbounds/fallback-rows.js';
import { scanBodyOf, targetOf, withTarget } from '../page/inbounds/target.js';

const schemas: ProtocolsReply = {
  inbound: {
    properties: { protocol: {}, port: {}, tag: {}, remark: {}, listen: {} },
  },
  protocols: [],
};

test('a copy has another port, a name of its own, no tag, no clients and no counters', (t) => {
  const stored = {
    id: 7,
    up: 5,
    tag: 'in-443',
    port: 443,
    remark: 'home',
    protocol: 'vless',
    settings: { decryption: 'none', clients: [{ email: 'ann' }] },
  };
  const copy = copyOf(stored, schemas, 'home copy');
  const { port, ...rest } = copy;
  t.deepEqual(rest, { remark: 'home copy', protocol: 'vless', settings: { decryption: 'none' } });
  t.true(Number(port) >= 20_000 && Number(port) < 32_000);
  t.deepEqual([anyPort(() => 0), anyPort(() => 0.999_999)], [20_000, 31_999]);
  t.is(copyOf({ ...stored, port: 0, listen: '@x' }, schemas, '')['port'], 0, 'a Unix socket has no port');
});

test('an undo brings back all but fallbacks, hosts and too many clients', (t) => {
  t.deepEqual(lossesOf({ settings: { clients: [] } }, { fallbacks: 0, hosts: 0 }), []);
  const clients = Array.from({ length: 20_001 }, () => ({}));
  t.deepEqual(lossesOf({ settings: { clients } }, { fallbacks: 1, hosts: 2 }), [
    'fallbacks',
    'hosts',
    'clients',
  ]);
  t.deepEqual(lossesOf({ fallbackParent: { masterId: 1 } }, { fallbacks: 0, hosts: 0 }), ['fallbacks']);
});

test('a document is imported as it is, or out of a reply, and faults say their line', (t) => {
  t.deepEqual(importedOf('{"protocol":"vless","port":1}').document, { protocol: 'vless', port: 1 });
  t.deepEqual(importedOf('{"success":true,"obj":{"protocol":"vless"}}').document, { protocol: 'vless' });
  t.deepEqual(importedOf('{\n"a":\n}').fault, { kind: 'syntax', line: 3 });
  t.deepEqual(importedOf('{"port":1}').fault, { kind: 'protocol', line: 1 });
  const clients = Array.from({ length: 20_001 }, () => 1);
  const settings = JSON.stringify({ clients });
  t.deepEqual(importedOf(JSON.stringify({ protocol: 'x', settings })).fault, { kind: 'clients', line: 1 });
});

test('the link of an inbound is the one that leads to its port', (t) => {
  const vmess = `vmess://${btoa(JSON.stringify({ port: '8443' }))}`;
  const links = [
    'vless://id@host:443?x=1#a',
    'ss://abc@[2001:db8::1]:8388#b',
    vmess,
    'vless://id@host:80#c',
    'x',
  ];
  t.is(linkTo(links, 8388), links[1]);
  t.is(linkTo(links, 8443), vmess);
  t.is(linkTo(links, 80), links[3]);
  t.is(linkTo(links, 9), links[0]);
  t.is(linkTo([], 9), undefined);
});

test('a scan asks for the typed target, and fills in the names that it found', (t) => {
  t.is(targetOf({ dest: ' shop.example:443 ' }), 'shop.example:443');
  t.deepEqual(scanBodyOf({ xver: 1, serverNames: ['a.example'] }, '8443'), {
    target: '127.0.0.1:8443',
    sni: 'a.example',
    xver: 1,
    allowPrivate: true,
  });
  t.deepEqual(scanBodyOf({ serverNames: ['a.example'] }, '192.0.2.1:443'), {
    target: '192.0.2.1:443',
    sni: 'a.example',
  });
  t.deepEqual(scanBodyOf({ xver: 0, serverNames: ['b'] }, 'a.example'), { target: 'a.example' });
  const values = { dest: 'old', privateKey: 'k', serverNames: ['old'] };
  t.deepEqual(
    withTarget(values, {
      target: 'a.example:443',
      host: 'a.example',
      serverNames: ['b.example', 'a.example'],
    }),
    { privateKey: 'k', target: 'a.example:443', serverNames: ['a.example', 'b.example'] },
  );
  t.deepEqual(withTarget(values, { target: '192.0.2.1:443', host: '192.0.2.1', serverNames: [] }), {
    privateKey: 'k',
    target: '192.0.2.1:443',
    serverNames: ['old'],
  });
});

test('a certificate takes the place of the first one, and its name where none was typed', (t) => {
  const file = { names: ['*.b.example', 'b.example'], certificateFile: '/c', keyFile: '/k' };
  const values = {
    certificates: [{ certificate: ['x'], key: ['y'], usage: 'encipherment' }, { certificateFile: '/2' }],
  };
  t.deepEqual(withCertificate(values, file), {
    certificates: [
      { usage: 'encipherment', certificateFile: '/c', keyFile: '/k' },
      { certificateFile: '/2' },
    ],
    serverName: 'b.example',
  });
  t.is(withCertificate({ serverName: 'mine' }, file)['serverName'], 'mine');
  t.is(certificateOf(withCertificate({}, file)), '/c');
  t.is(certificateOf({ certificates: 'odd' }), '');
});

test('fallbacks are rows in their order, and go back as they were', (t) => {
  const stored = [
    { id: 2, masterId: 1, childId: 0, name: '', alpn: 'h2', path: '/a', dest: '80', xver: 1, sortOrder: 2 },
    {
      id: 3,
      masterId: 1,
      childId: 9,
      name: 'n',
      alpn: '',
      path: '',
      dest: '127.0.0.1:9',
      xver: 0,
      sortOrder: 1,
    },
  ];
  const rows = rowsOf(stored);
  t.deepEqual(rows, [
    { ...BLANK, child: '9', name: 'n' },
    { ...BLANK, dest: '80', alpn: 'h2', path: '/a', xver: '1' },
  ]);
  t.deepEqual(sentOf(rows), {
    fallbacks: [
      { childId: 9, dest: '', name: 'n', alpn: '', path: '', xver: 0 },
      { childId: 0, dest: '80', name: '', alpn: 'h2', path: '/a', xver: 1 },
    ],
  });
  t.deepEqual(moved([1, 2, 3], 0, 1), [2, 1, 3]);
  t.deepEqual(moved([1, 2, 3], 2, 1), [1, 2, 3]);
  t.deepEqual(moved([1, 2, 3], 0, -1), [1, 2, 3]);
});
