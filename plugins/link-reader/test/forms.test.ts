// Links as other programs write them, and what is wrong with those that cannot be read.
import test from 'ava';
import { LinkError } from '../contract.js';
import { readerWith } from './reader.js';

const reader = readerWith();
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const vmess = (config: object): string => `vmess://${base64(JSON.stringify(config))}`;
const U = '11111111-2222-4333-8444-555555555555';
const WG = 'wg://cHJpdmF0ZQ==@192.0.2.1';

/** By link: the parts of its entry that matter. */
const READ: readonly (readonly [link: string, entry: object])[] = [
  [
    ` VLESS://${U}@DE.Example.org?type=raw&security=tls&peer=s.example&insecure=1&amp;alpn=h2,%20http/1.1#100% `,
    {
      name: '100%',
      server: 'de.example.org',
      port: 443,
      transport: { kind: 'tcp' },
      security: { kind: 'tls', serverName: 's.example', alpn: ['h2', 'http/1.1'], allowInsecure: true },
    },
  ],
  [
    `vless://${U}@пример.рф:8443/?type=ws`,
    { server: 'xn--e1afmkfd.xn--p1ai', transport: { kind: 'ws', path: '/', host: '' } },
  ],
  [
    `vless://${U}@[2001:DB8::1]:1`,
    {
      server: '2001:db8::1',
      security: { kind: 'none' },
      account: { protocol: 'vless', id: U, flow: '', encryption: 'none' },
    },
  ],
  [
    `vless://${U}@a.example?type=grpc&path=svc&mode=gun`,
    { transport: { kind: 'grpc', serviceName: 'svc', authority: '', multiMode: false } },
  ],
  [
    `vless://${U}@a.example?type=splithttp&path=/x&extra=${encodeURIComponent('{"sessionPlacement":"query","scMaxEachPostBytes":"1-2","noSSEHeader":true}')}`,
    {
      transport: {
        kind: 'xhttp',
        path: '/x',
        host: '',
        sessionIDPlacement: 'query',
        scMaxEachPostBytes: '1-2',
      },
    },
  ],
  [
    `vless://${U}@a.example?security=reality&pbk=a+b&type=tcp&sni=s&type=ws`,
    {
      transport: { kind: 'tcp' },
      security: {
        kind: 'reality',
        serverName: 's',
        shortId: '',
        publicKey: 'a+b',
        fingerprint: 'chrome',
        spiderX: '',
      },
    },
  ],
  [`vless://${U}@a.example#%F0%9F%87%A9%F0%9F%87%AA%0Atwo`, { name: '🇩🇪 two' }],
  [
    'trojan://p@ss/x@a.example:1',
    { account: { protocol: 'trojan', password: 'p@ss/x' }, server: 'a.example', port: 1 },
  ],
  [
    'trojan://p%40ss/x@a.example:1',
    { account: { protocol: 'trojan', password: 'p@ss/x' }, security: { kind: 'tls' } },
  ],
  [
    vmess({
      add: 'a.example',
      port: '8443',
      id: U,
      aid: '64',
      net: 'kcp',
      type: 'srtp',
      path: 'seed',
      tls: '',
    }).replace(/=+$/, ''),
    {
      port: 8443,
      transport: { kind: 'kcp', header: 'srtp', seed: 'seed' },
      security: { kind: 'none' },
      name: '',
    },
  ],
  [
    vmess({
      add: 'a.example',
      port: 1,
      id: U,
      net: 'ws',
      path: '/p',
      host: 'h',
      tls: 'tls',
      sni: '',
      insecure: true,
      ps: 'a\nb',
    }),
    {
      name: 'a b',
      transport: { kind: 'ws', path: '/p', host: 'h' },
      security: { kind: 'tls', serverName: '', allowInsecure: true },
    },
  ],
  [
    `vmess://${U}@a.example:1?encryption=zero&type=ws`,
    { account: { protocol: 'vmess', id: U, security: 'zero' } },
  ],
  [
    `ss://${base64('aes-256-gcm:sec/ret@x@192.0.2.1:8388')}#old`,
    {
      name: 'old',
      server: '192.0.2.1',
      port: 8388,
      account: { protocol: 'shadowsocks', method: 'aes-256-gcm', password: 'sec/ret@x' },
    },
  ],
  [
    `ss://${base64('AES-256-GCM:a:b')}@192.0.2.1:8388/?plugin=simple-obfs%3Bobfs%3Dhttp%3Bobfs-uri%3D%2Fu`,
    {
      account: { protocol: 'shadowsocks', method: 'aes-256-gcm', password: 'a:b' },
      transport: { kind: 'tcp', http: { host: '', paths: ['/u'] } },
    },
  ],
  [
    'ss://aes-256-gcm%3Apw@192.0.2.1:1',
    { account: { protocol: 'shadowsocks', method: 'aes-256-gcm', password: 'pw' } },
  ],
  [
    `ss://${base64('2022-blake3-aes-128-gcm:YQ==:Yg==')}@192.0.2.1:1`,
    {
      account: {
        protocol: 'shadowsocks',
        method: '2022-blake3-aes-128-gcm',
        serverKey: 'YQ==',
        password: 'Yg==',
      },
    },
  ],
  [
    'hy2://user:pw@a.example:443,5000-6000',
    {
      port: 443,
      account: { protocol: 'hysteria', auth: 'user:pw' },
      finalMask: { udpHop: { ports: '443,5000-6000' } },
    },
  ],
  ['hysteria2://a.example/?auth=x&obfs=none', { port: 443, account: { protocol: 'hysteria', auth: 'x' } }],
  [
    `tuic://${U}%3Apw@a.example?allowInsecure=true&congestion=cubic`,
    {
      account: { protocol: 'tuic', uuid: U, password: 'pw', congestionControl: 'cubic' },
      security: { kind: 'tls', allowInsecure: true },
    },
  ],
  [
    `${WG}?publicKey=a+b=&ip=10.0.0.2&psk=c+d=&reserved=0,0,0`,
    {
      port: 51_820,
      account: {
        protocol: 'wireguard',
        privateKey: 'cHJpdmF0ZQ==',
        publicKey: 'a+b=',
        address: ['10.0.0.2'],
        preSharedKey: 'c+d=',
        keepAlive: 0,
        mtu: 0,
        dns: '',
      },
    },
  ],
  ['socks5://a.example', { port: 1080, account: { protocol: 'mixed', user: '', password: '' } }],
  [`socks://${base64('u:p:q')}@a.example:1`, { account: { protocol: 'mixed', user: 'u', password: 'p:q' } }],
  ['http://onlyname@a.example:8080', { account: { protocol: 'http', user: 'onlyname', password: '' } }],
];
for (const [link, entry] of READ) test(`reads ${link}`, (t) => t.like(reader.read(link), entry));

const REFUSED: readonly (readonly [link: string, part: string, sentence: RegExp])[] = [
  ['hello', 'scheme', /does not begin with a scheme/],
  ['', 'scheme', /does not begin/],
  ['ssr://x', 'scheme', /ssr is unknown; these are read: vless, vmess/],
  ['hysteria://a.example:1?auth=x', 'scheme', /hysteria is unknown/],
  [`vless://${'x'.repeat(20_000)}`, 'link', /20008 characters/],
  [`vless://${U}@a.example\n`.repeat(2), 'link', /control characters/],
  [`vless://${U}@`, 'server', /names no server/],
  [`vless://${U}@a b:1`, 'server', /not a host name/],
  [`vless://${U}@2001:db8::1`, 'port', /port/],
  [`vless://${U}@a.example:0`, 'port', /1 to 65535/],
  [`vless://${U}@a.example:65536`, 'port', /1 to 65535/],
  ['vless://a.example:443', 'credentials', /no id/],
  ['vless://%E0%A4%A@a.example', 'credentials', /invalid escape/],
  ['vless://a%00b@a.example', 'credentials', /control characters/],
  [`vless://${U}@a.example?type=h2`, 'type', /h2 no longer exists; the server must move to xhttp/],
  [`vless://${U}@a.example?type=carrier`, 'type', /is unknown/],
  [`vless://${U}@a.example?headerType=srtp`, 'headerType', /neither none nor http/],
  [`vless://${U}@a.example?security=xtls`, 'security', /none, tls or reality/],
  [`vless://${U}@a.example?security=reality`, 'pbk', /no public key/],
  [`vless://${U}@a.example?security=reality&pbk=x&sid=xyz`, 'sid', /16 hexadecimal/],
  [`vless://${U}@a.example?flow=xtls-rprx-direct`, 'flow', /xtls-rprx-vision/],
  [`vless://${U}@a.example?type=xhttp&extra=%7B`, 'extra', /not valid JSON/],
  [`vless://${U}@a.example?type=xhttp&extra=[]`, 'extra', /must be an object/],
  [`vless://${U}@a.example?type=xhttp&mode=sideways`, 'transport.mode', /mode/],
  [
    `vless://${U}@a.example?type=xhttp&extra=${encodeURIComponent('{"headers":{"a":"x\\ny"}}')}`,
    'transport.headers.a',
    /one line/,
  ],
  [`vless://${U}@a.example?fm=${encodeURIComponent('{"tcp":[{"type":"xmc"}]}')}`, 'fm', /unknown type/],
  [`vless://${U}@a.example?type=kcp&mtu=many`, 'mtu', /number from 1/],
  [`vless://${U}@a.example?${'a=1&'.repeat(300)}`, 'link', /200 parameters/],
  ['vmess://', 'link', /not base64/],
  [`vmess://${base64('no json')}`, 'link', /not valid JSON/],
  [vmess({ add: 'a.example', port: 1 }), 'id', /no id/],
  [vmess({ id: U, port: 1 }), 'server', /no server/],
  [vmess({ id: U, add: 'a.example', port: {} }), 'port', /not a text/],
  [vmess({ id: U, add: 'a.example', net: 'quic' }), 'type', /no longer exists/],
  [vmess({ id: U, add: 'a.example', scy: 'aes-128-cfb' }), 'scy', /cipher/],
  [vmess({ id: U, add: 'a.example', tls: 'reality' }), 'tls', /REALITY/],
  [`ss://${base64('only-a-method')}@192.0.2.1:1`, 'credentials', /no method and password/],
  ['ss://192.0.2.1:8388', 'link', /neither names a server/],
  [`ss://${base64('aes-128-gcm:p')}@192.0.2.1`, 'port', /port/],
  [`ss://${base64('aes-128-gcm:p')}@192.0.2.1:1?plugin=v2ray-plugin`, 'plugin', /obfs-local/],
  ['hy2://a.example', 'credentials', /no password/],
  ['hy2://p@a.example:1-70000', 'port', /list of ports/],
  ['hy2://p@a.example?obfs=salamander', 'obfs-password', /no obfs-password/],
  ['hy2://p@a.example?obfs=other', 'obfs', /salamander or gecko/],
  ['hy2://p@a.example?obfs=gecko&obfs-password=p&minPacketSize=9&maxPacketSize=5', 'minPacketSize', /needs/],
  [`tuic://${U}@a.example`, 'credentials', /id and password/],
  [`tuic://${U}:p@a.example?congestion_control=fast`, 'congestion_control', /bbr/],
  [`${WG}?address=10.0.0.2`, 'publickey', /no public key/],
  [`${WG}?publickey=x`, 'address', /no address/],
  [`${WG}?publickey=x&address=10.0.0.2&reserved=1,2,3`, 'reserved', /reserved bytes/],
  [`vpn://${base64('{"containers":[]}')}`, 'link', /config file of AmneziaWG/],
  [`vpn://${base64('[Interface]\nPrivateKey = x')}`, 'Peer.Endpoint', /has no Peer.Endpoint/],
  ['tg://resolve?domain=x', 'link', /MTProto proxy/],
  ['tg://proxy?server=a.example&port=1&secret=x', 'secret', /hexadecimal/],
  ['http://a.example:80/page', 'link', /web page/],
  ['http://a.example', 'port', /port/],
];
for (const [link, part, sentence] of REFUSED)
  test(`refuses ${link.slice(0, 120)}`, (t) => {
    const error = t.throws(() => reader.read(link), { instanceOf: LinkError });
    t.is(error.part, part);
    t.regex(error.message, sentence);
  });

test('a list is lines, or lines in base64 with or without padding and breaks; anything else is named', (t) => {
  const lines = [
    'trojan://a@b.example#1',
    '# a comment',
    'ss://x',
    '  hy2://c  ',
    'status=1',
    'url: https://x',
  ];
  const links = ['trojan://a@b.example#1', 'ss://x', 'hy2://c'];
  const encoded = base64(lines.join('\r\n'));
  for (const body of [
    lines.join('\n'),
    `\uFEFF${lines.join('\r\n')}`,
    encoded,
    encoded.replace(/=+$/, ''),
    encoded.replaceAll(/(.{20})/g, '$1\r\n'),
    encoded.replaceAll('+', '-').replaceAll('/', '_'),
  ])
    t.deepEqual(reader.links(body, 100), links);
  t.deepEqual(reader.links(encoded, 2), links.slice(0, 2));
  for (const [body, sentence] of [
    ['', /empty/],
    ['nothing here', /no share links/],
    ['<!DOCTYPE html><a href="https://x.example">', /web page/],
    ['{"outbounds":[{"server":"https://x"}]}', /JSON/],
    ['port: 7890\nproxies:\n  - {name: x}', /YAML/],
    ['x'.repeat(9_000_000), /9000000 characters/],
  ] as const)
    t.regex(t.throws(() => reader.links(body, 10), { instanceOf: LinkError }).message, sentence);
});

test('a link gets another name where its scheme has a place for one', (t) => {
  for (const [link, renamed] of [
    [
      'trojan://a@b.example:1?x=y#old%20name',
      'trojan://a@b.example:1?x=y#%28%D0%BD%D0%BE%D0%B4%D0%B0%29%201',
    ],
    ['anytls://a@b.example:1', 'anytls://a@b.example:1#%28%D0%BD%D0%BE%D0%B4%D0%B0%29%201'],
    [
      'trojan://a@b.example:1#n?serverDescription=YWJj',
      'trojan://a@b.example:1#%28%D0%BD%D0%BE%D0%B4%D0%B0%29%201?serverDescription=YWJj',
    ],
    [vmess({ ps: 'old', add: 'a', x: 1 }), vmess({ ps: '(нода) 1', add: 'a', x: 1 })],
    ['tg://proxy?server=a', 'tg://proxy?server=a'],
    ['vpn://abc', 'vpn://abc'],
  ] as const)
    t.is(reader.renamed(link, '(нода) 1'), renamed);
  t.is(reader.nameIn('anytls://a@b#%D0%BD'), 'н');
  t.is(reader.nameIn(vmess({ ps: 'old' })), 'old');
  t.is(reader.nameIn('vmess://????'), '');
  t.throws(() => reader.renamed('no link', 'x'), { instanceOf: LinkError });
});
