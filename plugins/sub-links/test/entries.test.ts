// Links of entries that no inbound of this tree makes by itself yet: hosts, nodes and further protocols make them.
import test from 'ava';
import type { EntryTemplate } from '../../inbounds/contract.js';
import { placeFor } from '../../subscription/address.js';
import { cannotLink, compileLink } from '../link.js';

const U = '11111111-2222-4333-8444-555555555555';
const client = {
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
const vless: EntryTemplate = {
  server: '203.0.113.1',
  port: 443,
  account: { protocol: 'vless', id: U, flow: '', encryption: 'none' },
  transport: { kind: 'tcp' },
  security: { kind: 'none' },
};
const linkOf = (entry: EntryTemplate, name = ''): string =>
  compileLink(entry)({ client, ...placeFor(entry)('h'), name, fragment: name && `#${name}` });

const LINKS: readonly (readonly [entry: EntryTemplate, name: string, link: string])[] = [
  [
    {
      ...vless,
      server: 'cdn1.example.com',
      port: 8443,
      security: {
        kind: 'tls',
        serverName: 'sni1.example.com',
        alpn: ['h3', 'h2'],
        fingerprint: 'firefox',
        pinnedPeerCertSha256: ['UElO'],
      },
    },
    'char-R1-user',
    `vless://${U}@cdn1.example.com:8443?alpn=h3%2Ch2&encryption=none&fp=firefox&pcs=UElO&security=tls&sni=sni1.example.com&type=tcp#char-R1-user`,
  ],
  [
    {
      ...vless,
      server: 'ss.example.com',
      port: 8443,
      account: {
        protocol: 'shadowsocks',
        method: '2022-blake3-aes-256-gcm',
        serverKey: 'inboundpw',
        password: 'clientpw',
      },
      security: { kind: 'tls', serverName: 'ss.sni', fingerprint: 'chrome' },
    },
    'char-SS-user',
    'ss://2022-blake3-aes-256-gcm:inboundpw:clientpw@ss.example.com:8443?fp=chrome&security=tls&sni=ss.sni&type=tcp#char-SS-user',
  ],
  [
    {
      ...vless,
      port: 5000,
      transport: { kind: 'kcp', header: 'wechat-video', seed: 's', mtu: 1350, tti: 50 },
    },
    'k-user',
    `vless://${U}@203.0.113.1:5000?encryption=none&headerType=wechat-video&mtu=1350&security=none&seed=s&tti=50&type=kcp#k-user`,
  ],
  [
    {
      ...vless,
      finalMask: { tcp: [{ kind: 'sudoku' }, { kind: 'fragment', packets: '1-3', length: 5 }] },
    },
    '',
    `vless://${U}@203.0.113.1:443?encryption=none&fm=%7B%22tcp%22%3A%5B%7B%22type%22%3A%22sudoku%22%7D%2C%7B%22settings%22%3A%7B%22length%22%3A5%2C%22packets%22%3A%221-3%22%7D%2C%22type%22%3A%22fragment%22%7D%5D%7D&security=none&type=tcp`,
  ],
  [
    {
      ...vless,
      account: { protocol: 'trojan', password: 'p@ss/w+rd=' },
      security: { kind: 'tls', serverName: 'tj.sni', allowInsecure: true },
    },
    '',
    'trojan://p%40ss%2Fw%2Brd%3D@203.0.113.1:443?allowInsecure=1&security=tls&sni=tj.sni&type=tcp',
  ],
  // What `encodeURIComponent` leaves as it is, and spaces, which are `+` in a query and nowhere else.
  [
    {
      ...vless,
      account: { protocol: 'trojan', password: "a b!'()*~" },
      transport: { kind: 'ws', path: "/a b!'()*~", host: 'x.example' },
    },
    '',
    'trojan://a%20b%21%27%28%29%2A~@203.0.113.1:443?host=x.example&path=%2Fa+b%21%27%28%29%2A~&security=none&type=ws',
  ],
  [
    {
      ...vless,
      transport: {
        kind: 'xhttp',
        path: '/x',
        host: '',
        download: {
          server: 'd.example',
          port: 8443,
          transport: { kind: 'xhttp', path: '/d', host: 'd.host', mode: 'auto' },
          security: {
            kind: 'tls',
            serverName: 'd.sni',
            fingerprint: 'chrome',
            pinnedPeerCertSha256: ['aa', 'bb'],
          },
        },
      },
    },
    '',
    `vless://${U}@203.0.113.1:443?encryption=none&extra=${encodeURIComponent(
      '{"downloadSettings":{"address":"d.example","network":"xhttp","port":8443,"security":"tls","tlsSettings":{"fingerprint":"chrome","pinnedPeerCertSha256":"aa,bb","serverName":"d.sni"},"xhttpSettings":{"host":"d.host","mode":"auto","path":"/d"}}}',
    )}&host=&path=%2Fx&security=none&type=xhttp`,
  ],
];
for (const [i, [entry, name, link]] of LINKS.entries())
  test(`link of an entry, ${i + 1}: ${entry.account.protocol} over ${entry.transport.kind}`, (t) =>
    t.is(linkOf(entry, name), link));

test('vmess says masks and mKCP in its JSON', (t) => {
  const link = linkOf({
    ...vless,
    account: { protocol: 'vmess', id: U, security: 'zero' },
    transport: { kind: 'kcp', header: 'srtp', seed: 's', mtu: 1350 },
    finalMask: { udp: [{ kind: 'salamander', password: 'pw' }] },
  });
  t.deepEqual(JSON.parse(Buffer.from(link.slice('vmess://'.length), 'base64').toString()), {
    add: '203.0.113.1',
    fm: '{"udp":[{"settings":{"password":"pw"},"type":"salamander"}]}',
    id: U,
    mtu: 1350,
    net: 'kcp',
    path: 's',
    port: 443,
    ps: '',
    scy: 'zero',
    tls: 'none',
    type: 'srtp',
    v: '2',
  });
});

test('shadowsocks of 2022 with one key only is not base64 as a whole', (t) => {
  const account = { protocol: 'shadowsocks', method: '2022-blake3-aes-128-gcm', password: 'AAECAw==' };
  t.is(linkOf({ ...vless, account }), 'ss://2022-blake3-aes-128-gcm:AAECAw%3D%3D@203.0.113.1:443?type=tcp');
});

test('what has no link is said', (t) => {
  t.is(cannotLink(vless), undefined);
  t.is(cannotLink({ ...vless, account: { protocol: 'pigeon' } }), 'there is no share link for pigeon');
  const reality = { serverName: 's', shortId: '', publicKey: 'PBK', fingerprint: 'chrome', spiderX: '/' };
  const secured: EntryTemplate = { ...vless, security: { kind: 'reality', ...reality } };
  t.is(cannotLink(secured), undefined);
  t.is(
    cannotLink({ ...secured, account: { protocol: 'vmess', id: U, security: 'auto' } }),
    'the share link of VMess has no fields for REALITY',
  );
  t.is(
    cannotLink({ ...vless, transport: { kind: 'own' } }),
    'there is no share link for vless over a transport of its own',
  );
});
