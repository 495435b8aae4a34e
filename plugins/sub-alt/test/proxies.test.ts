import test from 'ava';
import { parse } from 'yaml';
import type { EntryTemplate } from '../../inbounds/contract.js';
import { cannotProxy } from '../proxy/cannot.js';
import { compileProxy } from '../proxy/proxy.js';
import { echOf, greetingOf, pinOf } from '../proxy/security.js';
import { transportKeys } from '../proxy/transport.js';
import { quoted } from '../yaml-text.js';
import { ACCOUNTS, CLIENT, ENTRIES, fill, PIN } from './entries.js';
import { KEYS, OPTIONS } from './known-keys.js';

const same = (name: string): string => name;
const read = (entry: EntryTemplate, name = 'n', server?: string): Record<string, unknown> =>
  parse(compileProxy(entry, same)(fill(name, server))) as Record<string, unknown>;
const of = (wanted: string): EntryTemplate => {
  const found = ENTRIES.find(({ name }) => name === wanted);
  if (!found) throw new Error(`there is no ${wanted}`);
  return found.entry;
};
const EMPTY: EntryTemplate = {
  server: '',
  port: 443,
  account: ACCOUNTS['vless'] as EntryTemplate['account'],
  transport: { kind: 'tcp' },
  security: { kind: 'none' },
};

for (const { name, entry } of ENTRIES)
  test(`only keys that mihomo knows: ${name}`, (t) => {
    t.is(cannotProxy(entry), undefined);
    const proxy = read(entry, name);
    t.is(proxy['name'], name);
    t.is(proxy['server'], '203.0.113.1');
    const unknown: string[] = [];
    const visit = (keys: Record<string, unknown>, known: readonly string[], path: string): void => {
      for (const [key, value] of Object.entries(keys)) {
        if (!known.includes(key)) unknown.push(`${path}.${key}`);
        const inner = OPTIONS[key];
        if (inner) visit(value as Record<string, unknown>, inner, `${path}.${key}`);
      }
    };
    visit(proxy, KEYS[String(proxy['type'])] ?? [], '');
    t.deepEqual(unknown, []);
  });

test('vless over TCP, REALITY and WebSocket', (t) => {
  t.deepEqual(read({ ...EMPTY, account: { ...EMPTY.account, flow: () => 'xtls-rprx-vision-udp443' } }), {
    ...{ name: 'n', server: '203.0.113.1', type: 'vless', port: 443, udp: true, 'packet-encoding': 'xudp' },
    ...{ network: 'tcp', tls: false, uuid: CLIENT.uuid, flow: 'xtls-rprx-vision' },
  });
  t.like(read(of('vless tcp reality')), {
    tls: true,
    servername: 'h.example',
    'client-fingerprint': 'firefox',
    // A number to YAML, if it were not quoted.
    'reality-opts': { 'short-id': '2351e1', 'support-x25519mlkem768': true },
  });
  t.like(read(of('vless ws tls')), {
    network: 'ws',
    'ws-opts': {
      path: '/ws',
      headers: { Host: 'h.example', 'X-Note': '2026-07-27' },
      'max-early-data': 2048,
      'early-data-header-name': 'Sec-WebSocket-Protocol',
    },
    fingerprint: PIN,
    'skip-cert-verify': true,
    'name-cert-verify': 'other.example',
  });
  const routed = { ...EMPTY, vlessRoute: 443 };
  t.is(read(routed)['uuid'], '11111111-2222-01bb-8444-555555555555');
  t.is(read({ ...EMPTY, security: { kind: 'tls' } }, 'n', 'own.example')['servername'], 'own.example');
});

test('HTTP upgrade is WebSocket with a switch', (t) => {
  t.deepEqual(transportKeys({ kind: 'httpupgrade', path: '/up', host: 'h' }), {
    network: 'ws',
    'ws-opts': {
      ...{ path: '/up', headers: { Host: 'h' } },
      ...{ 'v2ray-http-upgrade': true, 'v2ray-http-upgrade-fast-open': undefined },
    },
  });
});

test('the name of a gRPC service stands in the path as the core writes it', (t) => {
  for (const [name, said] of [
    ['weir', 'weir'],
    ['a/b c', 'a%2Fb%20c'],
    ['/a/b c/Tun|Many', 'a/b%20c'],
    ['/a/b|c', '/a/b'],
    ['', '//Tun'],
  ] as const)
    t.like(transportKeys({ kind: 'grpc', serviceName: name, authority: '', multiMode: true }), {
      'grpc-opts': { 'grpc-service-name': said },
    });
});

test('shadowsocks: names of ciphers, keys of 2022, and WebSocket as a plugin without multiplexing', (t) => {
  t.like(read(of('shadowsocks tcp none')), { cipher: 'chacha20-ietf-poly1305', password: 'pw' });
  t.regex(String(read(of('shadowsocks 2022 tcp none'))['password']), /^AQEB\S+=:AgIC\S+=$/);
  t.deepEqual(read(of('shadowsocks httpupgrade none'))['plugin-opts'], {
    ...{ mode: 'websocket', mux: false, path: '/up', 'v2ray-http-upgrade': true, host: 'h.example' },
  });
});

test('hysteria, tuic and tunnels', (t) => {
  t.like(read(of('hysteria own tls')), {
    type: 'hysteria2',
    password: 'au',
    obfs: 'salamander',
    'obfs-password': '0x1f',
    ports: '20000-30000,40000',
    'hop-interval': 5,
    sni: 'h.example',
  });
  t.false('client-fingerprint' in read(of('hysteria own tls')));
  t.like(read(of('tuic own tls')), { 'congestion-controller': 'bbr', 'udp-relay-mode': 'native' });
  t.like(read(of('wireguard own none')), {
    ip: '10.0.0.2',
    ipv6: 'fd00::2',
    'remote-dns-resolve': true,
    dns: ['1.1.1.1', '8.8.8.8'],
  });
  t.like(read(of('amneziawg own none')), { 'amnezia-wg-option': { jc: 4, h1: 1_234_567 } });
  const unknown = {
    ...of('wireguard own none'),
    account: { ...ACCOUNTS['wireguard'], privateKey: () => '' },
  };
  t.is(compileProxy(unknown as EntryTemplate, same)(fill('n')), '', 'only the client knows its key');
});

test('what mihomo has no words for is said', (t) => {
  const account = (name: string) => ({ account: ACCOUNTS[name] as EntryTemplate['account'] });
  const cases: readonly (readonly [EntryTemplate, RegExp])[] = [
    [{ ...EMPTY, account: { protocol: 'mtproto', secret: 'ee' } }, /no mtproto/],
    [{ ...EMPTY, transport: { kind: 'kcp', header: 'none' } }, /no vless over kcp/],
    [{ ...of('vless xhttp tls'), ...account('vmess') }, /no vmess over xhttp/],
    [{ ...EMPTY, ...account('trojan') }, /trojan over TLS only/],
    [{ ...of('vless tcp tls'), ...account('shadowsocks') }, /shadowsocks over TLS alone/],
    [{ ...of('vless grpc none'), ...account('shadowsocks') }, /no shadowsocks over grpc/],
    [{ ...of('vless tcp reality'), ...account('shadowsocks') }, /no shadowsocks over REALITY/],
    [
      { ...of('shadowsocks ws tls'), security: { kind: 'tls', serverName: 'other' } },
      /one name for TLS and the header Host/,
    ],
    [
      { ...EMPTY, transport: { kind: 'grpc', serviceName: 's', authority: 'a', multiMode: false } },
      /header :authority/,
    ],
    [{ ...EMPTY, finalMask: { tcp: [{ kind: 'sudoku' }] } }, /no mask sudoku/],
    [
      {
        ...of('hysteria own tls'),
        finalMask: { udp: [{ kind: 'salamander', password: 'p', packetSize: '1-9' }] },
      },
      /range of packet sizes/,
    ],
    [{ ...EMPTY, security: { kind: 'tls', echConfigList: 'zzz' } }, /ECH configs/],
  ];
  for (const [entry, reason] of cases) t.regex(cannotProxy(entry) ?? '', reason);
  const fragment = { tcp: [{ kind: 'fragment', packets: '1-3', length: 5 } as const] };
  t.is(
    cannotProxy({ ...EMPTY, finalMask: fragment }),
    undefined,
    'a fragment is the own affair of the client',
  );
});

test('pins, greetings and ECH', (t) => {
  t.is(pinOf([Buffer.alloc(32, 0xab).toString('base64')]), PIN);
  t.is(pinOf([PIN.toLowerCase()]), PIN);
  t.is(pinOf(['aa', 'zz']), undefined);
  t.deepEqual(['Chrome', 'hellofirefox_120', 'randomizednoalpn', 'unsafe', '', 'chromium'].map(greetingOf), [
    'chrome',
    'firefox',
    'random',
    undefined,
    undefined,
    undefined,
  ]);
  t.deepEqual(echOf('public.example+https://1.1.1.1/dns-query'), {
    enable: true,
    'query-server-name': 'public.example',
  });
  t.deepEqual(echOf('https://1.1.1.1/dns-query'), { enable: true });
});

test('every text is quoted, and no reader breaks it', (t) => {
  for (const text of [
    '2351e1',
    '0e1',
    '0177',
    '0x1f',
    '1.5',
    'true',
    'y',
    'null',
    '~',
    '2026-07-27',
    '12:30',
    'no',
  ])
    t.is(quoted(text), `"${text}"`);
  for (const text of [
    'a"b\\c',
    "it's",
    'a: b # c',
    '\n\t\r\0',
    '\u0085\u2028\u2029\ufeff\u007f\uffff',
    '📊 имя',
    '{{x}}',
  ]) {
    t.is(parse(quoted(text)), text);
    t.regex(quoted(text), /^[\x20-\x7e\u00a0-\u2027\u202a-\ufefe\uff00-\ufffd]*$/, JSON.stringify(text));
  }
  t.is(parse(quoted('half \ud83d.')), 'half \ufffd.');
  const odd = { ...EMPTY, transport: { kind: 'ws', path: '/\u2028"', host: 'h' } } as EntryTemplate;
  t.like(read(odd), { 'ws-opts': { path: '/\u2028"' } });
});
