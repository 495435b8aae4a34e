// Share links, character by character: what client programs in the field read.
import test from 'ava';
import { baseEntry } from '../../inbounds/entry/base.js';
import { http } from '../../inbounds/protocols/http.js';
import { mixed } from '../../inbounds/protocols/mixed.js';
import { keyFor, shadowsocks } from '../../inbounds/protocols/shadowsocks.js';
import { trojan } from '../../inbounds/protocols/trojan.js';
import { vless } from '../../inbounds/protocols/vless.js';
import { vmess } from '../../inbounds/protocols/vmess.js';
import type { ClientIdentity, Inbound, Protocol } from '../../inbounds/contract.js';
import { FRESH } from '../../inbounds/schema.js';
import { placeFor } from '../../subscription/address.js';
import { compileLink } from '../link.js';

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

interface Case {
  readonly of: Protocol;
  readonly stream: Record<string, unknown>;
  readonly settings?: Record<string, unknown>;
  readonly client?: Partial<ClientIdentity>;
  readonly at?: string;
  readonly remark: string;
  readonly inbound?: Partial<Inbound>;
}

function linkOf({
  of,
  stream,
  settings = of === vless ? { decryption: 'none', encryption: 'none' } : {},
  client,
  at = '203.0.113.1:443',
  remark,
  inbound: fields,
}: Case): string {
  const colon = at.lastIndexOf(':');
  const inbound = {
    ...FRESH,
    id: 1,
    shareAddrStrategy: 'custom',
    shareAddr: at.slice(0, colon),
    port: Number(at.slice(colon + 1)),
    protocol: of.name,
    settings,
    streamSettings: stream,
    ...fields,
  } as Inbound;
  return linkFor(of, inbound, { ...user, ...client }, remark);
}
function linkFor(of: Protocol, inbound: Inbound, client: ClientIdentity, name: string): string {
  const entry = of.entry(inbound, baseEntry(inbound));
  return compileLink(entry)({
    client,
    ...placeFor(entry)('h'),
    name,
    fragment: name && `#${encodeURIComponent(name)}`,
  });
}
const base64Of = (link: string): string => link.slice('vmess://'.length);
const decoded = (link: string): unknown => JSON.parse(Buffer.from(base64Of(link), 'base64').toString());

const cdn = { serverName: 'cdn.example.test', alpn: ['h2', 'http/1.1'], settings: { fingerprint: 'chrome' } };
const wsTls = {
  network: 'ws',
  wsSettings: { path: '/ws', host: 'cdn.example.test' },
  security: 'tls',
  tlsSettings: cdn,
};
const reality = (settings: object, own: object = {}) => ({
  security: 'reality',
  realitySettings: {
    target: 'r.example.com:443',
    serverNames: ['r.example.com'],
    shortIds: ['ab12'],
    settings: { fingerprint: 'chrome', publicKey: 'PBK', ...settings },
    ...own,
  },
});

const URLS: Record<string, Case & { link: string }> = {
  'http with a login that must be escaped': {
    of: http,
    stream: {},
    client: { password: 'p@:/w' },
    at: 'example.test:8080',
    remark: 'alice',
    link: 'http://i1.c1:p%40%3A%2Fw@example.test:8080#alice',
  },
  'SOCKS with its login in base64': {
    of: mixed,
    stream: {},
    at: 'example.test:1080',
    remark: 'alice',
    link: `socks://${Buffer.from('i1.c1:pw').toString('base64url')}@example.test:1080#alice`,
  },
  'vless over ws with TLS': {
    of: vless,
    stream: wsTls,
    at: 'example.test:443',
    remark: 'alice',
    link: `vless://${U}@example.test:443?alpn=h2%2Chttp%2F1.1&encryption=none&fp=chrome&host=cdn.example.test&path=%2Fws&security=tls&sni=cdn.example.test&type=ws#alice`,
  },
  'vless with pinned certificates': {
    of: vless,
    stream: {
      ...wsTls,
      tlsSettings: { ...cdn, settings: { fingerprint: 'chrome', pinnedPeerCertSha256: ['AA=', 'BB='] } },
    },
    at: 'example.test:443',
    remark: 'alice',
    link: `vless://${U}@example.test:443?alpn=h2%2Chttp%2F1.1&encryption=none&fp=chrome&host=cdn.example.test&path=%2Fws&pcs=AA%3D%2CBB%3D&security=tls&sni=cdn.example.test&type=ws#alice`,
  },
  'vless over tcp with reality and vision': {
    of: vless,
    client: { flow: 'xtls-rprx-vision', subId: 'vless-reality-001' },
    at: 'example.test:443',
    remark: 'dave',
    stream: {
      network: 'tcp',
      ...reality({ spiderX: '/', publicKey: 'Tx5y' }, { serverNames: ['yahoo.com'], shortIds: ['a3f1'] }),
    },
    link: `vless://${U}@example.test:443?encryption=none&flow=xtls-rprx-vision&fp=chrome&pbk=Tx5y&security=reality&sid=a3f1&sni=yahoo.com&spx=%2Fdafd018f50a389b&type=tcp#dave`,
  },
  'vless over gRPC with reality': {
    of: vless,
    remark: 'g-user',
    client: { flow: 'xtls-rprx-vision' },
    stream: {
      network: 'grpc',
      grpcSettings: { serviceName: 'svc', multiMode: true },
      ...reality({ spiderX: '/' }),
    },
    link: `vless://${U}@203.0.113.1:443?authority=&encryption=none&fp=chrome&mode=multi&pbk=PBK&security=reality&serviceName=svc&sid=ab12&sni=r.example.com&spx=%2F341c90fe143f4ae&type=grpc#g-user`,
  },
  'vless over XHTTP with TLS': {
    of: vless,
    remark: 'x-user',
    stream: {
      network: 'xhttp',
      xhttpSettings: { path: '/x', host: 'x.example.com', mode: 'auto', xPaddingBytes: '100-1000' },
      security: 'tls',
      tlsSettings: { serverName: 'x.example.com', settings: { fingerprint: 'chrome' } },
    },
    link: `vless://${U}@203.0.113.1:443?encryption=none&extra=%7B%22mode%22%3A%22auto%22%2C%22xPaddingBytes%22%3A%22100-1000%22%7D&fp=chrome&host=x.example.com&mode=auto&path=%2Fx&security=tls&sni=x.example.com&type=xhttp&x_padding_bytes=100-1000#x-user`,
  },
  'vless over tcp behind an HTTP header': {
    of: vless,
    at: '203.0.113.1:80',
    remark: 't-user',
    stream: {
      network: 'tcp',
      tcpSettings: {
        header: { type: 'http', request: { path: ['/'], headers: { Host: ['h.example.com'] } } },
      },
    },
    link: `vless://${U}@203.0.113.1:80?encryption=none&headerType=http&host=h.example.com&path=%2F&security=none&type=tcp#t-user`,
  },
  'vless over HTTP upgrade without a host': {
    of: vless,
    at: '203.0.113.1:80',
    remark: 'hu-user',
    stream: { network: 'httpupgrade', httpupgradeSettings: { path: '/hu' } },
    link: `vless://${U}@203.0.113.1:80?encryption=none&host=&path=%2Fhu&security=none&type=httpupgrade#hu-user`,
  },
  'an IPv6 address': {
    of: vless,
    at: '[2001:db8::1]:443',
    remark: 'v6-user',
    stream: {},
    link: `vless://${U}@[2001:db8::1]:443?encryption=none&security=none&type=tcp#v6-user`,
  },
  'trojan over ws with TLS': {
    of: trojan,
    at: 'example.test:443',
    remark: 'eve',
    client: { password: 'p@ss/w+rd=' },
    stream: {
      network: 'ws',
      wsSettings: { path: '/trojan', headers: { Host: 'trojan.example.test' } },
      security: 'tls',
      tlsSettings: { ...cdn, serverName: 'trojan.example.test' },
    },
    link: 'trojan://p%40ss%2Fw%2Brd%3D@example.test:443?alpn=h2%2Chttp%2F1.1&fp=chrome&host=trojan.example.test&path=%2Ftrojan&security=tls&sni=trojan.example.test&type=ws#eve',
  },
  'trojan with reality has no flow, for the core refuses it': {
    of: trojan,
    remark: 'tr-user',
    client: { flow: 'xtls-rprx-vision' },
    stream: { network: 'tcp', ...reality({ spiderX: '/' }, { shortIds: ['ab'] }) },
    link: 'trojan://pw@203.0.113.1:443?fp=chrome&pbk=PBK&security=reality&sid=ab&sni=r.example.com&spx=%2F341c90fe143f4ae&type=tcp#tr-user',
  },
  'classic shadowsocks': {
    of: shadowsocks,
    settings: { method: 'chacha20-ietf-poly1305' },
    client: { password: 's3cret' },
    at: '203.0.113.1:8388',
    remark: 'ss-user',
    stream: { network: 'tcp' },
    link: 'ss://Y2hhY2hhMjAtaWV0Zi1wb2x5MTMwNTpzM2NyZXQ@203.0.113.1:8388?type=tcp#ss-user',
  },
  'shadowsocks of 2022 with a client whose password is a key': {
    of: shadowsocks,
    settings: { method: '2022-blake3-aes-128-gcm', password: 'AAECAwQFBgcICQoLDA0ODw==' },
    client: { password: 'Dw4NDAsKCQgHBgUEAwIBAA==' },
    at: 'example.test:8388',
    remark: 'frank',
    stream: {},
    link: 'ss://2022-blake3-aes-128-gcm:AAECAwQFBgcICQoLDA0ODw%3D%3D:Dw4NDAsKCQgHBgUEAwIBAA%3D%3D@example.test:8388?type=tcp#frank',
  },
  'shadowsocks with TLS names it': {
    of: shadowsocks,
    settings: { method: 'aes-128-gcm' },
    at: 'example.test:8443',
    remark: '',
    stream: {
      network: 'tcp',
      security: 'tls',
      tlsSettings: { serverName: 'ss.sni', settings: { fingerprint: 'chrome' } },
    },
    link: 'ss://YWVzLTEyOC1nY206cHc@example.test:8443?fp=chrome&security=tls&sni=ss.sni&type=tcp',
  },
  'shadowsocks behind an HTTP header is a plugin to its programs': {
    of: shadowsocks,
    settings: { method: 'aes-128-gcm' },
    at: '203.0.113.1:38143',
    remark: 'ss-user',
    stream: {
      network: 'tcp',
      tcpSettings: { header: { type: 'http', request: { path: ['/'], headers: { host: 'test' } } } },
    },
    link: 'ss://YWVzLTEyOC1nY206cHc@203.0.113.1:38143?plugin=obfs-local%3Bobfs%3Dhttp%3Bobfs-host%3Dtest#ss-user',
  },
};
for (const [name, { link, ...the }] of Object.entries(URLS))
  test(`link: ${name}`, (t) => t.is(linkOf(the), link));

test('link: vmess over ws with TLS', (t) => {
  const link = linkOf({
    of: vmess,
    at: 'example.test:8443',
    remark: 'vm-user',
    stream: {
      network: 'ws',
      wsSettings: { path: '/vm', host: 'h.example.test' },
      security: 'tls',
      tlsSettings: { ...cdn, serverName: 's.example.test' },
    },
  });
  t.is(
    base64Of(link),
    'ewogICJhZGQiOiAiZXhhbXBsZS50ZXN0IiwKICAiYWxwbiI6ICJoMixodHRwLzEuMSIsCiAgImZwIjogImNocm9tZSIsCiAgImhvc3QiOiAiaC5leGFtcGxlLnRlc3QiLAogICJpZCI6ICIxMTExMTExMS0yMjIyLTQzMzMtODQ0NC01NTU1NTU1NTU1NTUiLAogICJuZXQiOiAid3MiLAogICJwYXRoIjogIi92bSIsCiAgInBvcnQiOiA4NDQzLAogICJwcyI6ICJ2bS11c2VyIiwKICAic2N5IjogImF1dG8iLAogICJzbmkiOiAicy5leGFtcGxlLnRlc3QiLAogICJ0bHMiOiAidGxzIiwKICAidHlwZSI6ICJub25lIiwKICAidiI6ICIyIgp9',
  );
});

test('link: vmess over gRPC', (t) => {
  const link = linkOf({
    of: vmess,
    at: '203.0.113.1:2083',
    remark: 'g-user',
    stream: { network: 'grpc', grpcSettings: { serviceName: 'svc', multiMode: true } },
  });
  t.deepEqual(decoded(link), {
    add: '203.0.113.1',
    authority: '',
    id: U,
    net: 'grpc',
    path: 'svc',
    port: 2083,
    ps: 'g-user',
    scy: 'auto',
    tls: 'none',
    type: 'multi',
    v: '2',
  });
});

test('link: vmess over XHTTP has the fields of extra beside the others', (t) => {
  const link = linkOf({
    of: vmess,
    at: '[2001:db8::1]:443',
    remark: 'a <b> & "c"',
    stream: {
      network: 'splithttp',
      splithttpSettings: { path: '/x', host: 'x.example.com', mode: 'auto', xPaddingBytes: '100-1000' },
    },
  });
  t.deepEqual(decoded(link), {
    add: '2001:db8::1',
    host: 'x.example.com',
    id: U,
    mode: 'auto',
    net: 'xhttp',
    path: '/x',
    port: 443,
    ps: 'a <b> & "c"',
    scy: 'auto',
    tls: 'none',
    type: 'none',
    v: '2',
    xPaddingBytes: '100-1000',
    x_padding_bytes: '100-1000',
  });
  t.true(Buffer.from(base64Of(link), 'base64').toString().includes('\\u003cb\\u003e \\u0026'));
});

test('extra tells what a client must know and nothing that marks or belongs to the server', (t) => {
  const xhttpSettings = {
    mode: 'packet-up',
    xPaddingBytes: '100-1000',
    sessionIDPlacement: 'header',
    sessionIDKey: 'X-Session',
    uplinkChunkSize: 4096,
    xmux: { maxConcurrency: '16-32' },
    headers: { Host: 'h', 'X-Forwarded': '1' },
    scMaxEachPostBytes: '1000000',
    scMinPostsIntervalMs: 30,
    scMaxBufferedPosts: 30,
    noSSEHeader: true,
  };
  const link = linkOf({ of: vless, remark: '', stream: { network: 'xhttp', xhttpSettings } });
  t.deepEqual(JSON.parse(new URL(link).searchParams.get('extra') ?? ''), {
    headers: { 'X-Forwarded': '1' },
    mode: 'packet-up',
    sessionIDKey: 'X-Session',
    sessionIDPlacement: 'header',
    sessionKey: 'X-Session',
    sessionPlacement: 'header',
    uplinkChunkSize: 4096,
    xPaddingBytes: '100-1000',
    xmux: { maxConcurrency: '16-32' },
  });
});

test('a flow is said only where it works, and the core is told the same', (t) => {
  const secured = { security: 'tls', tlsSettings: cdn };
  const encrypted = {
    decryption: 'mlkem768x25519plus.native.600s.k',
    encryption: 'mlkem768x25519plus.native.0rtt.k',
  };
  const cases: [stream: object, settings: object, more: Partial<Inbound>, flow: boolean][] = [
    [{ network: 'tcp', ...secured }, {}, {}, true],
    [{ network: 'raw', ...reality({}) }, {}, {}, true],
    [{ network: 'tcp' }, {}, {}, false],
    [{ network: 'xhttp' }, encrypted, {}, true],
    [{ network: 'xhttp', ...reality({}) }, {}, {}, false],
    [{ network: 'ws', ...secured }, {}, {}, false],
    [{ network: 'tcp', ...secured }, {}, { disableFlow: true }, false],
  ];
  for (const [stream, settings, more, flow] of cases) {
    const client = { ...user, flow: 'xtls-rprx-vision' };
    const inbound = {
      ...FRESH,
      id: 1,
      port: 443,
      protocol: 'vless',
      settings: { decryption: 'none', ...settings },
      streamSettings: stream,
      ...more,
    } as Inbound;
    t.is(
      new URL(linkFor(vless, inbound, client, '')).searchParams.has('flow'),
      flow,
      JSON.stringify([stream, more]),
    );
    t.is(vless.account(client, inbound)['flow'], flow ? 'xtls-rprx-vision' : '');
    t.false(linkFor(vless, inbound, user, '').includes('flow'));
  }
});

test('of several names and short ids a client gets the same one every time, and clients get different ones', (t) => {
  const serverNames = ['a.example', 'b.example', 'c.example', 'd.example'];
  const stream = { network: 'tcp', ...reality({}, { serverNames }) };
  const sniFor = (subId: string) =>
    new URL(linkOf({ of: vless, stream, remark: '', client: { subId } })).searchParams.get('sni') ?? '';
  const chosen = Array.from({ length: 40 }, (_, i) => sniFor(`client-${i}`));
  t.deepEqual(
    chosen,
    Array.from({ length: 40 }, (_, i) => sniFor(`client-${i}`)),
  );
  t.deepEqual([...new Set(chosen)].sort(), serverNames);
});

test('the public key of reality follows from the private one where it is not given', (t) => {
  // A pair as the core's own command `x25519` gives it.
  const privateKey = 'cAdtCnMYpX08FsFyUbJmRd9MLyyZ69mKCn-Mty-SjXo';
  const link = linkOf({
    of: vless,
    remark: '',
    stream: { network: 'tcp', ...reality({ publicKey: '' }, { privateKey }) },
  });
  t.is(new URL(link).searchParams.get('pbk'), 'O63r0w9lbYzAF-CBbmXVxI4pPwEfChUbUClP0PlP3Fk');
});

test('a password that is no key of 2022 becomes one, the same every time and of the right length', (t) => {
  for (const [method, bytes] of [
    ['2022-blake3-aes-128-gcm', 16],
    ['2022-blake3-aes-256-gcm', 32],
  ] as const) {
    const key = keyFor('any password', method);
    t.is(Buffer.from(key, 'base64').length, bytes);
    t.is(keyFor('any password', method), key);
    t.not(keyFor('another', method), key);
    t.is(keyFor(key, method), key);
  }
});
