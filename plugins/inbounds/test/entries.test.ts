// Entries of inbounds: what a client's side must know, independent of formats.
import test from 'ava';
import { inspect } from '../../../kernel/index.js';
import { baseEntry } from '../entry/base.js';
import { completeEntry, withRoute } from '../entry/complete.js';
import { noteFunctions } from '../entry/functions.js';
import { EntryTemplateShape, ProtocolEntryShape } from '../entry/shape.js';
import { type ClientIdentity, type EntryTemplate, type Inbound, isOf } from '../contract.js';
import { http } from '../protocols/http.js';
import { mixed } from '../protocols/mixed.js';
import { shadowsocks } from '../protocols/shadowsocks.js';
import { trojan } from '../protocols/trojan.js';
import { vless } from '../protocols/vless.js';
import { vmess } from '../protocols/vmess.js';
import { FRESH } from '../schema.js';

const U = '11111111-2222-4333-8444-555555555555';
const user: ClientIdentity = {
  id: 1,
  email: 'user',
  subId: '',
  uuid: U,
  password: 'pw',
  auth: 'au',
  flow: '',
  security: 'auto',
  adTag: '',
};
const inboundOf = (streamSettings: object, fields: object = {}) =>
  ({ ...FRESH, id: 1, port: 443, protocol: 'vless', ...fields, streamSettings }) as Inbound;
const completed = (template: EntryTemplate) =>
  completeEntry(template, { client: user, server: 'h.example', name: 'n' });

const TRANSPORTS: Readonly<Record<string, readonly [stream: object, transport: object]>> = {
  'tcp is bare where nothing is said': [{}, { kind: 'tcp' }],
  'tcp behind an HTTP header keeps what a client must send': [
    {
      network: 'raw',
      rawSettings: {
        header: {
          type: 'http',
          request: {
            method: 'POST',
            path: ['/a', '/b'],
            headers: { Host: ['h.example'], 'User-Agent': ['x', 'y'], Accept: '*/*' },
          },
        },
      },
    },
    {
      kind: 'tcp',
      http: {
        host: 'h.example',
        paths: ['/a', '/b'],
        method: 'POST',
        headers: { 'User-Agent': ['x', 'y'], Accept: ['*/*'] },
      },
    },
  ],
  'ws takes its host from the headers, and keeps the others': [
    { network: 'websocket', wsSettings: { path: '/w?ed=2048', headers: { HOST: 'w.example', 'X-A': '1' } } },
    { kind: 'ws', path: '/w?ed=2048', host: 'w.example', headers: { 'X-A': '1' } },
  ],
  'HTTP upgrade without settings': [{ network: 'httpupgrade' }, { kind: 'httpupgrade', path: '/', host: '' }],
  gRPC: [
    { network: 'grpc', grpcSettings: { serviceName: 's', authority: 'a.example', multiMode: true } },
    { kind: 'grpc', serviceName: 's', authority: 'a.example', multiMode: true },
  ],
  'XHTTP without what only the server uses, and with a way down of its own': [
    {
      network: 'splithttp',
      splithttpSettings: {
        path: '/x',
        mode: 'packet-up',
        xPaddingBytes: '100-1000',
        xPaddingKey: 'of no use without the mode',
        sessionPlacement: 'header',
        scMaxEachPostBytes: 5,
        scMaxBufferedPosts: 30,
        noSSEHeader: true,
        uplinkHTTPMethod: 42,
        xmux: { maxConcurrency: '16-32', hKeepAlivePeriod: 30, weeds: {} },
        downloadSettings: {
          address: 'down.example',
          port: 8443,
          network: 'xhttp',
          security: 'tls',
          tlsSettings: {
            serverName: 'd.sni',
            fingerprint: 'chrome',
            pinnedPeerCertSha256: 'aa,bb',
            allowInsecure: true,
          },
          xhttpSettings: { path: '/d', host: 'd.example' },
        },
      },
    },
    {
      kind: 'xhttp',
      path: '/x',
      host: '',
      mode: 'packet-up',
      xPaddingBytes: '100-1000',
      sessionIDPlacement: 'header',
      scMaxEachPostBytes: 5,
      xmux: { maxConcurrency: '16-32', hKeepAlivePeriod: 30 },
      download: {
        server: 'down.example',
        port: 8443,
        transport: { kind: 'xhttp', path: '/d', host: 'd.example' },
        security: {
          kind: 'tls',
          serverName: 'd.sni',
          fingerprint: 'chrome',
          pinnedPeerCertSha256: ['aa', 'bb'],
          allowInsecure: true,
        },
      },
    },
  ],
};
for (const [what, [stream, transport]] of Object.entries(TRANSPORTS))
  test(`transport: ${what}`, (t) => {
    const entry = vless.entry(inboundOf(stream), baseEntry(inboundOf(stream)));
    t.deepEqual(entry.transport as object, transport);
    t.deepEqual(inspect(ProtocolEntryShape, entry), { value: entry });
  });

test('TLS says what a client must know, and never what the server keeps', (t) => {
  const tlsSettings = {
    serverName: 's.example',
    alpn: ['h2', ''],
    certificates: [{ keyFile: '/secret' }],
    settings: {
      fingerprint: '',
      echConfigList: 'ECH',
      verifyPeerCertByName: ' v.example ',
      pinnedPeerCertSha256: ['AA'],
      allowInsecure: true,
    },
  };
  t.deepEqual(baseEntry(inboundOf({ security: 'tls', tlsSettings })).security as object, {
    kind: 'tls',
    serverName: 's.example',
    alpn: ['h2'],
    fingerprint: '',
    echConfigList: 'ECH',
    verifyPeerCertByName: 'v.example',
    pinnedPeerCertSha256: ['AA'],
  });
});

test('an entry has the masks that both sides need, and no others', (t) => {
  const finalmask = {
    tcp: [
      { type: 'fragment', settings: { packets: 'tlshello', length: '100-200', delay: '10-20' } },
      { type: 'sudoku', settings: { password: 'p', customTables: ['xpxv'], paddingMin: 2 } },
      { type: 'weeds' },
      null,
    ],
    udp: [
      { type: 'salamander', settings: { password: 'p', packetSize: '512-1200' } },
      { type: 'mkcp-legacy', settings: { header: 'wechat', value: 's' } },
    ],
    quicParams: { congestion: 'bbr', udpHop: { ports: ' 20000-50000 ', interval: '5-10' } },
  };
  const { finalMask } = baseEntry(inboundOf({ finalmask }));
  t.deepEqual(finalMask as object, {
    tcp: [
      { kind: 'fragment', packets: 'tlshello', length: '100-200', delay: '10-20' },
      { kind: 'sudoku', password: 'p', customTables: ['xpxv'], paddingMin: 2 },
    ],
    udp: [
      { kind: 'salamander', password: 'p', packetSize: '512-1200' },
      { kind: 'mkcp-legacy', header: 'wechat', value: 's' },
    ],
    udpHop: { ports: '20000-50000', interval: '5-10' },
  });
  t.false('finalMask' in baseEntry(inboundOf({ finalmask: { tcp: [{ type: 'weeds' }], udp: 7 } })));
});

test('mKCP in its older form: a mask with a header has its domain beside it, one without has the seed', (t) => {
  const disguise = (settings: object) =>
    baseEntry(inboundOf({ network: 'kcp', finalmask: { udp: [{ type: 'mkcp-legacy', settings }] } }))
      .transport;
  t.deepEqual(disguise({ header: 'dns', value: 'example.com' }), { kind: 'kcp', header: 'dns' });
  t.deepEqual(disguise({ header: '', value: 'seed' }), { kind: 'kcp', header: 'none', seed: 'seed' });
  t.deepEqual(disguise({ header: 'wechat' }), { kind: 'kcp', header: 'wechat-video' });
});

test('the account of each protocol is that of the client, and complete', (t) => {
  const of2022 = { method: '2022-blake3-aes-128-gcm', password: 'AAECAwQFBgcICQoLDA0ODw==' };
  const secured = { security: 'tls', tlsSettings: { serverName: 's' } };
  const cases = [
    [vless, {}, {}, { protocol: 'vless', id: U, flow: '', encryption: 'none' }],
    [http, {}, {}, { protocol: 'http', user: 'i1.c1', password: 'pw' }],
    [mixed, {}, {}, { protocol: 'mixed', user: 'i1.c1', password: 'pw' }],
    [vless, {}, secured, { protocol: 'vless', id: U, flow: 'xtls-rprx-vision', encryption: 'none' }],
    [vmess, {}, {}, { protocol: 'vmess', id: U, security: 'auto' }],
    [trojan, {}, {}, { protocol: 'trojan', password: 'pw' }],
    [
      shadowsocks,
      { method: 'aes-128-gcm' },
      {},
      { protocol: 'shadowsocks', method: 'aes-128-gcm', password: 'pw' },
    ],
    [
      shadowsocks,
      of2022,
      {},
      {
        protocol: 'shadowsocks',
        method: of2022.method,
        serverKey: of2022.password,
        // The first 16 bytes of SHA-256 of the password.
        password: 'MMlS+rEiw/l1nwKm2Vw3WA==',
      },
    ],
  ] as const;
  for (const [protocol, settings, stream, account] of cases) {
    const inbound = inboundOf(stream, { protocol: protocol.name, settings });
    const template = protocol.entry(inbound, baseEntry(inbound));
    const entry = completeEntry(template, {
      client: { ...user, flow: 'xtls-rprx-vision' },
      server: 'h.example',
      name: 'n',
    });
    t.deepEqual(entry.account as object, account, protocol.name);
    t.like(entry, { name: 'n', server: 'h.example', port: 443 });
    t.false(Object.values(entry.account).some((value) => typeof value === 'function'));
    t.deepEqual(inspect(ProtocolEntryShape, template), { value: template });
  }
});

test('an entry of REALITY is complete for one client', (t) => {
  const realitySettings = {
    serverNames: ['a.example', 'b.example'],
    shortIds: [''],
    privateKey: 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo',
    settings: { spiderX: '/', mldsa65Verify: 'PQV' },
  };
  const inbound = inboundOf({ security: 'reality', realitySettings });
  const { security } = completed(vless.entry(inbound, baseEntry(inbound)));
  t.true(security.kind === 'reality' && realitySettings.serverNames.includes(security.serverName));
  t.deepEqual({ ...security, serverName: '' } as object, {
    kind: 'reality',
    serverName: '',
    shortId: '',
    publicKey: 'O63r0w9lbYzAF-CBbmXVxI4pPwEfChUbUClP0PlP3Fk',
    fingerprint: 'chrome',
    spiderX: '/341c90fe143f4ae',
    mldsa65Verify: 'PQV',
  });
});

test('the address is that of the inbound, or the host of the fetch', (t) => {
  const server = (fields: object) => baseEntry(inboundOf({}, fields)).server;
  const custom = { shareAddrStrategy: 'custom', shareAddr: '[2001:db8::1]' };
  t.is(server(custom), '2001:db8::1');
  t.is(server({ ...custom, shareAddrStrategy: 'node', listen: '203.0.113.7' }), '203.0.113.7');
  for (const listen of ['', '0.0.0.0', '::', '::0', '127.0.0.1', '::1']) t.is(server({ listen }), '', listen);
  const inbound = inboundOf({}, { listen: '203.0.113.7' });
  t.is(completed(vless.entry(inbound, baseEntry(inbound))).server, '203.0.113.7');
});

test('a kind narrows an entry that is complete as well', (t) => {
  const inbound = inboundOf({});
  const entry = completed(vless.entry(inbound, baseEntry(inbound)));
  const id: string = isOf(entry, 'vless') ? entry.account.id : '';
  t.is(id, U);
  t.false(isOf(entry, 'vmess'));
});

test('a route stands in the UUID of VLESS and nowhere else', (t) => {
  for (const [route, group] of [
    [443, '01bb'],
    [53, '0035'],
    [0, '0000'],
    [65_535, 'ffff'],
  ] as const)
    t.is(withRoute(U, route), `11111111-2222-${group}-8444-555555555555`);
  t.is(withRoute('no-uuid', 443), 'no-uuid');
  const idOf = (protocol: typeof vless) => {
    const inbound = inboundOf({}, { protocol: protocol.name });
    return completed({ ...protocol.entry(inbound, baseEntry(inbound)), vlessRoute: 443 }).account['id'];
  };
  t.is(idOf(vless), '11111111-2222-01bb-8444-555555555555');
  t.is(idOf(vmess), U);
});

test('a changed entry may keep functions, and not add any', (t) => {
  const inbound = inboundOf({});
  const entry = noteFunctions(vless.entry(inbound, baseEntry(inbound)));
  t.true('value' in inspect(EntryTemplateShape, { ...entry, server: 'a.example' }));
  const own = inspect(EntryTemplateShape, { ...entry, account: { ...entry.account, id: () => 'x' } });
  t.true(
    'issues' in own && /account.*function here must be one of the entry/.test(own.issues[0]?.message ?? ''),
  );
  // Half of a surrogate pair has no escape in a URL: one text like this would end a whole list of links.
  for (const path of ['/\ud800', '/a\nb', '/\u0000'])
    t.regex(
      JSON.stringify(inspect(EntryTemplateShape, { ...entry, transport: { kind: 'ws', path, host: '' } })),
      /text of one line without control characters/,
      JSON.stringify(path),
    );
  // Unknown keys are dropped, as in bodies.
  t.deepEqual(inspect(EntryTemplateShape, { ...entry, weeds: 1 }), { value: entry });
});

test('shadowsocks over mKCP, which listens on UDP itself, asks the core for no second socket there', (t) => {
  const settings = { method: 'aes-128-gcm', network: 'tcp,udp', clients: [] };
  for (const network of ['kcp', 'mkcp'])
    t.deepEqual(shadowsocks.coreSettings(settings, { network }), { method: 'aes-128-gcm', network: 'tcp' });
  t.deepEqual(shadowsocks.coreSettings(settings, { network: 'ws' }), {
    method: 'aes-128-gcm',
    network: 'tcp,udp',
  });
});
