// Runs on every database in test:full.
// Each field of a host: what it changes in the link and in a document, and that it is stored and shown.
import test from 'ava';
import { hostFields, hostRecord } from '../fields.js';
import { type Fields, HOSTS, openWorld, type World } from './world.js';

type Changes = Readonly<Record<string, unknown>>;
interface Case {
  /** of the API, beside those of the plain host */
  readonly fields: Fields;
  /** kind of the inbound; `ws` over TLS, if it is not there */
  readonly on?: string;
  /** what is different from the plain host: in the link by parameter, in the document by path; null: it is gone */
  readonly link: Changes;
  readonly document: Changes;
}
/** The host that others are compared with; fields that change it are named in the cases. */
const PLAIN = { remark: 'R', hosts: ['h.example:8443'] };
const PIN = 'ab'.repeat(32);
const MASK = { tcp: [{ type: 'fragment', settings: { packets: 'tlshello', length: '100-200' } }] };
const SUDOKU = '{"settings":{"password":"p"},"type":"sudoku"}';

const CASES: Readonly<Record<string, readonly Case[]>> = {
  remark: [{ fields: { remark: 'Paris' }, link: { name: 'ws-Paris-ws' }, document: { name: 'ws-Paris-ws' } }],
  hosts: [
    {
      fields: { hosts: ['a.cdn:2096'] },
      link: { server: 'a.cdn', port: '2096' },
      document: { server: 'a.cdn', port: 2096 },
    },
    {
      fields: { hosts: ['[2001:db8::1]:2096'] },
      link: { server: '[2001:db8::1]', port: '2096' },
      document: { server: '2001:db8::1', port: 2096 },
    },
    {
      fields: { hosts: [':2096'] },
      link: { server: '203.0.113.1', port: '2096' },
      document: { server: '203.0.113.1', port: 2096 },
    },
  ],
  port: [{ fields: { hosts: ['h.example'], port: 2053 }, link: { port: '2053' }, document: { port: 2053 } }],
  serverDescription: [
    {
      fields: { serverDescription: 'Fast Server' },
      link: { name: 'ws-R-ws?serverDescription=RmFzdCBTZXJ2ZXI=' },
      document: { description: 'Fast Server' },
    },
  ],
  security: [
    {
      fields: { security: 'none' },
      link: { security: 'none', sni: null, fp: null, alpn: null },
      document: {
        'security.kind': 'none',
        'security.serverName': null,
        'security.fingerprint': null,
        'security.alpn.0': null,
      },
    },
    {
      fields: { security: 'tls' },
      on: 'tcp',
      link: { security: 'tls' },
      document: { 'security.kind': 'tls' },
    },
    { fields: { security: 'same' }, link: {}, document: {} },
    { fields: { security: 'reality' }, link: {}, document: {} },
    // Vision over nothing is refused by every core.
    {
      fields: { security: 'none' },
      on: 'vision',
      link: { security: 'none', sni: null, fp: null, alpn: null, flow: null },
      document: {
        'security.kind': 'none',
        'security.serverName': null,
        'security.fingerprint': null,
        'security.alpn.0': null,
        'account.flow': '',
      },
    },
  ],
  sni: [
    { fields: { sni: 'own.sni' }, link: { sni: 'own.sni' }, document: { 'security.serverName': 'own.sni' } },
    {
      fields: { sni: 'own.sni' },
      on: 'reality',
      link: { sni: 'own.sni' },
      document: { 'security.serverName': 'own.sni' },
    },
    { fields: { sni: 'own.sni' }, on: 'tcp', link: {}, document: {} },
  ],
  overrideSniFromAddress: [
    {
      fields: { overrideSniFromAddress: true, sni: 'own.sni' },
      link: { sni: 'h.example' },
      document: { 'security.serverName': 'h.example' },
    },
  ],
  keepSniBlank: [
    { fields: { keepSniBlank: true, overrideSniFromAddress: true, sni: 'own.sni' }, link: {}, document: {} },
  ],
  hostHeader: [
    {
      fields: { hostHeader: 'own.host' },
      link: { host: 'own.host' },
      document: { 'transport.host': 'own.host' },
    },
    {
      fields: { hostHeader: 'own.host' },
      on: 'http',
      link: { host: 'own.host' },
      document: { 'transport.http.host': 'own.host' },
    },
    {
      fields: { hostHeader: 'own.host' },
      on: 'grpc',
      link: { authority: 'own.host' },
      document: { 'transport.authority': 'own.host' },
    },
    { fields: { hostHeader: 'own.host' }, on: 'tcp', link: {}, document: {} },
  ],
  path: [
    { fields: { path: '/own' }, link: { path: '/own' }, document: { 'transport.path': '/own' } },
    {
      fields: { path: '/own' },
      on: 'http',
      link: { path: '/own' },
      document: { 'transport.http.paths.0': '/own' },
    },
    { fields: { path: '/own' }, on: 'grpc', link: {}, document: {} },
  ],
  alpn: [
    {
      fields: { alpn: ['h3', 'http/1.1'] },
      link: { alpn: 'h3,http/1.1' },
      document: { 'security.alpn.0': 'h3', 'security.alpn.1': 'http/1.1' },
    },
  ],
  fingerprint: [
    {
      fields: { fingerprint: 'firefox' },
      link: { fp: 'firefox' },
      document: { 'security.fingerprint': 'firefox' },
    },
    {
      fields: { fingerprint: 'safari' },
      on: 'reality',
      link: { fp: 'safari' },
      document: { 'security.fingerprint': 'safari' },
    },
  ],
  pinnedPeerCertSha256: [
    {
      fields: { pinnedPeerCertSha256: [PIN] },
      link: { pcs: PIN },
      document: { 'security.pinnedPeerCertSha256.0': PIN },
    },
  ],
  verifyPeerCertByName: [
    {
      fields: { verifyPeerCertByName: 'cert.example' },
      link: { vcn: 'cert.example' },
      document: { 'security.verifyPeerCertByName': 'cert.example' },
    },
  ],
  echConfigList: [
    {
      fields: { echConfigList: 'AEX+DQ' },
      link: { ech: 'AEX+DQ' },
      document: { 'security.echConfigList': 'AEX+DQ' },
    },
  ],
  // No parameter of share links says it.
  cipherSuites: [
    {
      fields: { cipherSuites: 'TLS_AES_128_GCM_SHA256' },
      link: {},
      document: { 'security.cipherSuites': 'TLS_AES_128_GCM_SHA256' },
    },
  ],
  allowInsecure: [
    {
      fields: { allowInsecure: true },
      link: { allowInsecure: '1' },
      document: { 'security.allowInsecure': true },
    },
    { fields: { allowInsecure: true }, on: 'tcp', link: {}, document: {} },
  ],
  // Links have no words for multiplexing and for sockets.
  muxParams: [
    {
      fields: { muxParams: '{"enabled":true,"concurrency":4,"xudpProxyUDP443":"reject"}' },
      link: {},
      document: { 'mux.concurrency': 4, 'mux.xudpProxyUDP443': 'reject' },
    },
    {
      fields: { muxParams: '{"enabled":false,"concurrency":4}' },
      link: {},
      document: { 'mux.concurrency': -1, 'mux.xudpConcurrency': -1 },
    },
    { fields: { muxParams: null }, link: {}, document: {} },
  ],
  sockoptParams: [
    {
      fields: {
        sockoptParams:
          '{"tcpFastOpen":256,"mark":0,"tcpcongestion":"bbr","happyEyeballs":{"tryDelayMs":250}}',
      },
      link: {},
      document: {
        'socket.tcpFastOpen': true,
        'socket.tcpCongestion': 'bbr',
        'socket.happyEyeballs.tryDelayMs': 250,
      },
    },
    { fields: { sockoptParams: null }, link: {}, document: {} },
  ],
  finalMask: [
    // After the mask of the inbound.
    {
      fields: { finalMask: JSON.stringify(MASK) },
      link: {
        fm: `{"tcp":[${SUDOKU},{"settings":{"length":"100-200","packets":"tlshello"},"type":"fragment"}]}`,
      },
      document: {
        'finalMask.tcp.1.kind': 'fragment',
        'finalMask.tcp.1.packets': 'tlshello',
        'finalMask.tcp.1.length': '100-200',
      },
    },
    {
      fields: { finalMask: '{"udp":[{"type":"salamander","settings":{"password":"s"}}]}' },
      on: 'tcp',
      link: { fm: '{"udp":[{"settings":{"password":"s"},"type":"salamander"}]}' },
      document: { 'finalMask.udp.0.kind': 'salamander', 'finalMask.udp.0.password': 's' },
    },
  ],
  vlessRoute: [
    ['443', '01bb', 443],
    ['53', '0035', 53],
    ['0', '0000', 0],
    ['65535', 'ffff', 65_535],
  ].map(
    ([sent, , number]): Case => ({
      fields: { vlessRoute: sent },
      link: { route: sent === undefined ? '' : Number(number).toString(16).padStart(4, '0') },
      document: { vlessRoute: number, route: Number(number).toString(16).padStart(4, '0') },
    }),
  ),
  altIpVersion: [{ fields: { altIpVersion: 'dual' }, link: {}, document: { ipVersion: 'dual' } }],
  altX25519: [
    { fields: { altX25519: true }, on: 'reality', link: {}, document: { 'security.x25519mlkem768': true } },
    { fields: { altX25519: true }, link: {}, document: {} },
  ],
  excludeFromSubTypes: [
    { fields: { excludeFromSubTypes: ['json'] }, link: {}, document: { missing: true } },
    { fields: { excludeFromSubTypes: ['raw', 'alt'] }, link: { missing: true }, document: {} },
  ],
  // In the panel's own list it stays.
  isHidden: [{ fields: { isHidden: true }, link: { missing: true }, document: { missing: true } }],
  // The inbound itself is back.
  isDisabled: [
    {
      fields: { isDisabled: true },
      on: 'tcp',
      link: { server: '203.0.113.1', port: 'its own', name: 'tcp-tcp' },
      document: { server: '203.0.113.1', port: 'its own', name: 'tcp-tcp' },
    },
  ],
  // Of one address there is one order; the test below has more.
  shuffleHost: [{ fields: { shuffleHost: true }, link: {}, document: {} }],
  // They sort and group hosts in the panel.
  tags: [{ fields: { tags: ['EU', 'CDN:1'] }, link: {}, document: {} }],
  // For another machine: the inbound itself is back.
  nodeGuids: [
    {
      fields: { nodeGuids: ['0b5c-1'] },
      on: 'tcp',
      link: { server: '203.0.113.1', port: 'its own', name: 'tcp-tcp' },
      document: { server: '203.0.113.1', port: 'its own', name: 'tcp-tcp' },
    },
  ],
  sortOrder: [{ fields: { sortOrder: 7 }, link: {}, document: {} }],
};

const readLink = (link: string | undefined, own: number): Changes => {
  if (link === undefined) return { missing: true };
  const { username, hostname, port, searchParams, hash } = new URL(link);
  return {
    server: hostname,
    port: port === String(own) ? 'its own' : port,
    name: decodeURIComponent(hash.slice(1)),
    route: username.slice(14, 18),
    ...Object.fromEntries(searchParams),
  };
};
function flat(value: unknown, at = ''): [string, unknown][] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => flat(inner, at === '' ? key : `${at}.${key}`))
    : [[at, value]];
}
const readEntry = (entry: Fields | undefined, own: number): Changes => {
  if (entry === undefined) return { missing: true };
  const all = Object.fromEntries(flat(entry));
  const { 'account.id': id, ...rest } = all;
  return { ...rest, route: String(id).slice(14, 18), port: all['port'] === own ? 'its own' : all['port'] };
};
const difference = (from: Changes, to: Changes): Changes =>
  to['missing'] === true
    ? to
    : Object.fromEntries(
        [...new Set([...Object.keys(from), ...Object.keys(to)])]
          .filter((key) => from[key] !== to[key])
          .map((key) => [key, to[key] ?? null]),
      );

let world: World;
test.before(async () => {
  world = await openWorld();
});
test.after.always(() => world?.panel[Symbol.asyncDispose]());

/** What a fetch shows of one inbound with one group. */
async function shownWith(on: string, fields: Fields) {
  const { panel, inbounds, add, links, entries } = world;
  const inboundId = inbounds[on] as number;
  const { port: own } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${inboundId}`);
  const groupId = await add({ ...PLAIN, ...fields, inboundIds: [inboundId] });
  const [link, ...moreLinks] = await links(on);
  const [entry, ...moreEntries] = await entries(on);
  const panelLinks = await panel.get<string[]>(`/panel/api/clients/links/${on}`);
  const group = await panel.get<Fields>(`${HOSTS}/get/${groupId}`);
  await panel.get(`${HOSTS}/del/${groupId}`, { method: 'POST' });
  return {
    link: readLink(link, own),
    document: readEntry(entry, own),
    more: [...moreLinks, ...moreEntries],
    panelLinks,
    group,
  };
}

test('the table has a case for each field', (t) => {
  t.deepEqual(Object.keys(CASES).sort(), ['hosts', ...Object.keys(hostFields)].sort());
});

for (const [field, cases] of Object.entries(CASES))
  test.serial(`${field} changes what it says`, async (t) => {
    for (const { fields, on = 'ws', link, document } of cases) {
      const label = `${on} ${JSON.stringify(fields)}`;
      const plain = await shownWith(on, {});
      const shown = await shownWith(on, fields);
      t.deepEqual(difference(plain.link, shown.link), link, `link: ${label}`);
      t.deepEqual(difference(plain.document, shown.document), document, `document: ${label}`);
      t.deepEqual(shown.more, [], label);
      t.is(shown.panelLinks.length, fields['excludeFromSubTypes']?.toString().includes('raw') ? 0 : 1, label);
      for (const [name, value] of Object.entries(fields)) t.deepEqual(shown.group[name], value, name);
      // All fields are there, in each reply.
      for (const name of hostRecord.names) t.true(name in shown.group, name);
    }
    t.deepEqual(world.panel.faults, []);
  });
