// The form of a host and the order of hosts, without a browser.
import test from 'ava';
import { areaOf } from '../page/app/areas.js';
import {
  HOST_FIELDS,
  hostChanges,
  hostFieldOf,
  type HostGroup,
  NEW_HOST,
  shownFields,
  typedHost,
} from '../page/hosts/fields.js';
import { hostSections, movedOrder } from '../page/hosts/order.js';
import { placeOf, sketchOf } from '../page/hosts/sketch.js';
import { hostFields } from '../../hosts/fields.js';

const GROUP: HostGroup = {
  groupId: 'a',
  version: '1',
  inboundIds: [1],
  hosts: ['', 'cdn.example.com:8443'],
  remark: 'CDN',
  serverDescription: '',
  isDisabled: false,
  isHidden: true,
  port: 0,
  security: 'tls',
  sni: 'cdn.example.com',
  overrideSniFromAddress: false,
  keepSniBlank: false,
  hostHeader: '',
  path: '',
  alpn: ['h2', 'http/1.1'],
  fingerprint: '',
  pinnedPeerCertSha256: [],
  verifyPeerCertByName: '',
  echConfigList: '',
  cipherSuites: '',
  allowInsecure: false,
  muxParams: null,
  sockoptParams: '{"mark":1}',
  finalMask: '',
  vlessRoute: '',
  altIpVersion: '',
  altX25519: false,
  shuffleHost: false,
  excludeFromSubTypes: [],
  tags: [],
  nodeGuids: [],
  sortOrder: 3,
} as HostGroup;

test('the form has each field of the panel, but for those that the list changes', (t) => {
  const inList = ['isDisabled', 'sortOrder'];
  t.deepEqual(
    [...HOST_FIELDS.map(({ name }) => name as string), ...inList].sort(),
    [...Object.keys(hostFields), 'hosts'].sort(),
  );
});

test('what nobody touched is not sent', (t) => {
  const typed = typedHost(GROUP);
  t.deepEqual(hostChanges(typed, typed), { body: {}, invalid: [] });
  t.is(typed.hosts, '*\ncdn.example.com:8443');
  t.is(typed.port, '');
  t.is(typed.isHidden, '1');
});

test('what was typed is sent in the form of the API', (t) => {
  const before = typedHost(GROUP);
  const after = {
    ...before,
    hosts: '*\n\n  relay.example.com \n',
    port: '۸۴۴۳',
    isHidden: '',
    alpn: '',
    sockoptParams: ' ',
    finalMask: '{"tcp":[]}',
    sni: ' other.example.com ',
  };
  t.deepEqual(hostChanges(before, after), {
    body: {
      hosts: ['', 'relay.example.com'],
      port: 8443,
      isHidden: false,
      alpn: [],
      sockoptParams: null,
      finalMask: '{"tcp":[]}',
      sni: 'other.example.com',
    },
    invalid: [],
  });
});

test('JSON that was cleared is sent as the panel has it blank', (t) => {
  const before = { ...typedHost(GROUP), muxParams: '{}', sockoptParams: '{}', finalMask: '{}' };
  const after = { ...before, muxParams: '', sockoptParams: '', finalMask: '' };
  t.deepEqual(hostChanges(before, after), {
    body: { muxParams: null, sockoptParams: null, finalMask: '' },
    invalid: [],
  });
});

test('a blank line is never the address of the inbound, which may be secret', (t) => {
  const { body } = hostChanges(NEW_HOST, { ...NEW_HOST, hosts: '\ncdn.example.com\n\n' });
  t.deepEqual(body.hosts, ['cdn.example.com']);
});

test('a text that is no value is named and not sent', (t) => {
  for (const port of ['x', '-1', '70000', '1.5'])
    t.deepEqual(hostChanges(NEW_HOST, { ...NEW_HOST, port }), { body: {}, invalid: ['port'] });
  t.deepEqual(hostChanges(NEW_HOST, { ...NEW_HOST, muxParams: '{' }).invalid, ['muxParams']);
});

test('without TLS, its fields are not shown', (t) => {
  const names = shownFields({ ...NEW_HOST, security: 'none' }).map(({ name }) => name);
  t.false(names.includes('sni'));
  t.true(names.includes('path'));
  t.true(shownFields(NEW_HOST).some(({ name }) => name === 'sni'));
});

test('an error of the panel finds its field', (t) => {
  t.is(hostFieldOf('hosts.2'), 'hosts');
  t.is(hostFieldOf('alpn[0]'), 'alpn');
  t.is(hostFieldOf('inboundIds.0'), 'inboundIds');
  t.is(hostFieldOf('toString'), undefined);
});

test('an address has the port of its line, else that of the group', (t) => {
  t.deepEqual(placeOf('cdn.example.com', '443'), { address: 'cdn.example.com', port: '443' });
  t.deepEqual(placeOf('cdn.example.com:8443', '443'), { address: 'cdn.example.com', port: '8443' });
  t.deepEqual(placeOf('2001:db8::1', ''), { address: '[2001:db8::1]', port: '…' });
  t.deepEqual(placeOf('[2001:db8::1]:8443', ''), { address: '[2001:db8::1]', port: '8443' });
  t.deepEqual(placeOf(':8443', ''), { address: '…', port: '8443' });
  t.deepEqual(placeOf('*', '0'), { address: '…', port: '…' });
});

test('a sketch has what the host sets, and nothing else', (t) => {
  t.deepEqual(sketchOf(NEW_HOST).links, ['…://…@…:…?…#…']);
  const typed = {
    ...NEW_HOST,
    remark: 'CDN',
    hosts: 'a.example\nb.example:1\nc.example\nd.example\ne.example',
    port: '443',
    security: 'tls',
    sni: 'hidden.example',
    overrideSniFromAddress: '1',
    alpn: 'h2\nhttp/1.1',
    path: '/x',
    finalMask: '{}',
  };
  const { links, more } = sketchOf(typed);
  t.is(links[0], '…://…@a.example:443?…&security=tls&sni=a.example&alpn=h2,http/1.1&path=/x&fm=…#CDN');
  t.is(links[1], '…://…@b.example:1?…&security=tls&sni=b.example&alpn=h2,http/1.1&path=/x&fm=…#CDN');
  t.is(links.length, 3);
  t.is(more, 2);
  t.is(
    sketchOf({ ...typed, security: 'none' }).links[0],
    '…://…@a.example:443?…&security=none&path=/x&fm=…#CDN',
  );
  t.false(sketchOf({ ...typed, keepSniBlank: '1' }).links[0]?.includes('sni='));
});

const group = (groupId: string, ...inboundIds: number[]) => ({ groupId, inboundIds });
const GROUPS = [group('a', 1), group('b', 2), group('c', 1, 2), group('d', 1)];

test('hosts stand at each of their inbounds, in the order of the inbounds', (t) => {
  t.deepEqual(
    hostSections(GROUPS, [{ id: 2 }, { id: 3 }, { id: 1 }]).map(({ inboundId, groups }) => [
      inboundId,
      groups.map(({ groupId }) => groupId).join(''),
    ]),
    [
      [2, 'bc'],
      [1, 'acd'],
    ],
  );
});

test('a host goes just beyond its neighbour at the inbound', (t) => {
  const moved = (groupId: string, inboundId: number, step: -1 | 1) =>
    movedOrder(GROUPS, { groupId, inboundId, step })?.join('');
  t.is(moved('c', 1, -1), 'cabd');
  t.is(moved('a', 1, 1), 'bcad');
  t.is(moved('d', 1, -1), 'abdc');
  t.is(moved('b', 2, 1), 'acbd');
  t.is(moved('a', 1, -1), undefined);
  t.is(moved('d', 1, 1), undefined);
  t.is(moved('b', 1, 1), undefined);
});

test('the page of a host belongs to the area of the inbounds', (t) => {
  t.is(areaOf('/host/new')?.area.to, '/inbounds');
  t.is(areaOf('/hosts')?.page.text, 'hosts.title');
  t.is(areaOf('/system/plugins'), undefined);
});
