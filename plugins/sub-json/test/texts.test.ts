// The texts in settings: what the core would refuse is refused when it is saved, with its place in the JSON.
import test from 'ava';
import { readDns } from '../texts/dns.js';
import { readMasks } from '../texts/masks.js';
import { readMux } from '../texts/mux.js';
import { readObservatory } from '../texts/observatory.js';
import { readProfile } from '../texts/profile.js';
import { readRules } from '../texts/rules.js';

const READERS = { readDns, readMasks, readMux, readObservatory, readProfile, readRules };

/** Which reader refuses which value, and what its sentence says. */
const REFUSED: readonly (readonly [reader: keyof typeof READERS, value: unknown, sentence: RegExp])[] = [
  ['readMux', [], /^it must be of type object/],
  ['readMux', { concurency: 8 }, /^concurency is not allowed/],
  ['readMux', { concurrency: 'many' }, /^concurrency must be a number/],
  ['readMux', { concurrency: 5000 }, /^concurrency must be less than/],
  ['readMux', { xudpProxyUDP443: 'maybe' }, /^xudpProxyUDP443 must be one of/],
  ['readRules', {}, /^it must be an array/],
  [
    'readRules',
    [{ domain: ['a'], outboundTag: 'elsewhere' }],
    /^\[0\]\.outboundTag must be one of \[proxy, direct, block\]/,
  ],
  ['readRules', [{ outboundTag: 'direct' }], /^\[0\] needs a condition: one of domain, /],
  ['readRules', [{ domain: [], outboundTag: 'direct' }], /^\[0\]\.domain must contain at least 1/],
  ['readRules', [{ domian: ['a'], port: 1, outboundTag: 'direct' }], /^\[0\]\.domian is not allowed/],
  [
    'readRules',
    [{ port: 1, balancerTag: 'b' }],
    /\[0\]\.outboundTag is required.*\[0\]\.balancerTag is not allowed/,
  ],
  [
    'readRules',
    [{ domain: ['geosite:'], outboundTag: 'direct' }],
    /^\[0\]\.domain\[0\]: geosite: needs the name/,
  ],
  [
    'readRules',
    [{ domain: 'regexp:(?=a)', outboundTag: 'direct' }],
    /^\[0\]\.domain(?:\[0\])?: the core's patterns know no look-around/,
  ],
  ['readRules', [{ domain: 'regexp:(', outboundTag: 'direct' }], /is not a valid pattern/],
  ['readRules', [{ domain: 'domian:a.b', outboundTag: 'direct' }], /there is no domian: here/],
  ['readRules', [{ ip: ['10.0.0.0/33'], outboundTag: 'direct' }], /^\[0\]\.ip\[0\]: it is no address/],
  ['readRules', [{ ip: ['example.com'], outboundTag: 'direct' }], /^\[0\]\.ip\[0\]: it is no address/],
  ['readRules', [{ port: '80-', outboundTag: 'direct' }], /^\[0\]\.port: it must be ports/],
  ['readRules', [{ port: 70_000, outboundTag: 'direct' }], /^\[0\]\.port must be/],
  [
    'readRules',
    [{ port: {}, outboundTag: 'direct' }],
    /^\[0\]\.port must be a port, or ports such as "1000-2000,3000"/,
  ],
  [
    'readRules',
    [{ network: 'icmp', outboundTag: 'direct' }],
    /^\[0\]\.network(?:\[0\])?: a network is tcp, udp/,
  ],
  ['readRules', [{ protocol: ['ftp'], outboundTag: 'direct' }], /^\[0\]\.protocol\[0\] must be one of/],
  ['readDns', {}, /^servers is required/],
  ['readDns', [], /must contain at least 1/],
  ['readDns', ['ftp://a'], /^\[0\]: it is not the URL of a name server/],
  ['readDns', { servers: [{ port: 53 }] }, /^servers\[0\]\.address is required/],
  [
    'readDns',
    { servers: [{ address: '1.1.1.1', domains: ['geosite:'] }] },
    /^servers\[0\]\.domains\[0\]: geosite:/,
  ],
  ['readDns', { servers: ['1.1.1.1'], queryStrategy: 'Any' }, /^queryStrategy must be one of/],
  ['readDns', { servers: ['1.1.1.1'], clientIp: 'here' }, /^clientIp: it is not an address/],
  ['readMasks', { tcp: {} }, /^tcp must be an array/],
  ['readMasks', { tcp: [{ type: 'fragmnt', settings: {} }] }, /^tcp\[0\]\.type must be one of \[fragment, /],
  ['readMasks', { tcp: [{ type: 'fragment', settings: {} }] }, /^tcp\[0\]\.settings\.length is required/],
  ['readMasks', { tcp: [{ type: 'fragment' }] }, /^tcp\[0\]\.settings is required/],
  [
    'readMasks',
    { tcp: [{ type: 'fragment', settings: { length: 0 } }] },
    /^tcp\[0\]\.settings\.length must be/,
  ],
  [
    'readMasks',
    { tcp: [{ type: 'fragment', settings: { length: 5, packets: '0-3' } }] },
    /^tcp\[0\]\.settings\.packets: it must be tlshello/,
  ],
  [
    'readMasks',
    { udp: [{ type: 'noise', settings: { noise: [] } }] },
    /^udp\[0\]\.settings\.noise must contain at least 1/,
  ],
  [
    'readMasks',
    { udp: [{ type: 'noise', settings: { noise: [{ rand: 5, packet: 'x' }] } }] },
    /^udp\[0\]\.settings\.noise\[0\]/,
  ],
  [
    'readMasks',
    { udp: [{ type: 'fragment', settings: { length: 5 } }] },
    /^udp\[0\]\.type must be one of \[noise, /,
  ],
  ['readMasks', { quicParams: { udpHop: { interval: 2 } } }, /^quicParams\.udpHop\.interval must be/],
  ['readMasks', { quicParams: { congestion: 'fast' } }, /^quicParams\.congestion must be one of/],
  ['readMasks', { fragment: {} }, /^fragment is not allowed/],
  ['readObservatory', { interval: '1 minute' }, /^interval: it must be a duration/],
  ['readObservatory', { interval: '10ms' }, /^interval: it must be a duration of at least 1s/],
  ['readObservatory', { interval: 60 }, /^interval must be a string/],
  ['readObservatory', { destination: 'ftp://a' }, /^destination: it must be an http or https URL/],
  ['readObservatory', { sampling: 0 }, /^sampling must be greater than or equal to 1/],
  ['readObservatory', { pingConfig: { httpMethod: 'POST' } }, /^pingConfig\.httpMethod must be one of/],
  ['readProfile', { RouteOrder: 'block-proxy' }, /^RouteOrder: it must be block, proxy and direct/],
  ['readProfile', { DirectSites: 'a' }, /^DirectSites must be an array/],
  ['readProfile', { DirectIp: ['a'] }, /^DirectIp\[0\]: it is no address/],
  ['readProfile', { DomainStrategy: 'Sometimes' }, /^DomainStrategy must be one of/],
];

for (const [name, value, sentence] of REFUSED) {
  const text = JSON.stringify(value);
  test(`${name} refuses ${text}`, (t) => {
    t.regex(t.throws(() => READERS[name](text))?.message ?? '', sentence);
  });
}

for (const [name, read] of Object.entries(READERS))
  test(`${name} refuses what is not valid JSON, too deep or too long to parse`, (t) => {
    for (const text of ['{', '1},"x":{"y":1', '{"a":1},"b":{}', '[1,]', 'nonsense'])
      t.throws(() => read(text), { instanceOf: Error }, text);
    t.throws(() => read('['.repeat(10_000)));
    t.throws(() => read(`[${'[],'.repeat(100_000)}[]]`), { message: /separators/ });
    t.notThrows(() => read('  '));
  });

test('what the core reads is taken, and one value in place of a list becomes a list', (t) => {
  const rules = [
    {
      type: 'field',
      ruleTag: 'r',
      domain: ['geosite:category-ads-all', 'full:a.b', 'regexp:(?i)\\.cn$', 'plain'],
      outboundTag: 'block',
    },
    {
      ip: ['geoip:private', '10.0.0.0/8', '2001:db8::/32', '::1', 'geoip:!cn'],
      port: '80,443,1000-2000',
      outboundTag: 'direct',
    },
    {
      domain: 'domain:a.b',
      network: 'tcp,udp',
      protocol: 'bittorrent',
      attrs: { ':method': 'GET' },
      outboundTag: 'proxy',
    },
  ];
  t.deepEqual(readRules(JSON.stringify(rules)), [
    ...rules.slice(0, 2),
    { ...rules[2], domain: ['domain:a.b'], network: ['tcp,udp'], protocol: ['bittorrent'] },
  ] as never);
  t.deepEqual(readMux('{"concurrency": 8}'), { concurrency: 8, enabled: true });
  t.is(readMux('{"enabled": false, "concurrency": 8}'), undefined);
  t.is(readMux(''), undefined);
  const servers = [
    'https://1.1.1.1/dns-query',
    'localhost',
    { address: '8.8.8.8', domains: ['geosite:cn'], expectIPs: ['geoip:cn'], skipFallback: true },
  ];
  t.deepEqual(readDns(JSON.stringify(servers)), { tag: 'dns_out', queryStrategy: 'UseIP', servers });
  const dns = { servers, hosts: { 'domain:a.b': '1.2.3.4', c: ['1.2.3.4', '::1'] }, disableCache: true };
  t.deepEqual(readDns(JSON.stringify(dns)), dns);
  const masks = {
    tcp: [
      { type: 'fragment', settings: { packets: 'tlshello', length: '10-20', delay: 5 } },
      { type: 'sudoku' },
    ],
    udp: [
      {
        type: 'noise',
        settings: {
          noise: [
            { rand: '10-20', delay: '5-10' },
            { type: 'hex', packet: '00ff' },
          ],
        },
      },
      { type: 'header-dns' },
    ],
    quicParams: {
      congestion: 'bbr',
      brutalUp: '100 mbps',
      udpHop: { ports: '20000-50000', interval: '5-10' },
    },
  };
  t.deepEqual(readMasks(JSON.stringify(masks)), masks as never);
});

test('an observatory sets single fields, also in the form of older panels', (t) => {
  const initial = {
    destination: 'https://www.google.com/generate_204',
    connectivity: '',
    interval: '1m',
    sampling: 2,
    timeout: '5s',
    httpMethod: 'HEAD',
  };
  t.deepEqual(readObservatory(''), initial);
  t.deepEqual(readObservatory('{"interval":"1m30s","httpMethod":"GET"}'), {
    ...initial,
    interval: '1m30s',
    httpMethod: 'GET',
  });
  t.deepEqual(
    readObservatory(
      '{"enabled":false,"subjectSelector":["proxy"],"pingConfig":{"sampling":5,"timeout":"1.5s"}}',
    ),
    { ...initial, sampling: 5, timeout: '1.5s' },
  );
});

test('a routing profile becomes rules and name servers, as JSON or as a deep link', (t) => {
  const profile = {
    Name: 'for tests',
    GlobalProxy: 'true',
    DomainStrategy: 'IPIfNonMatch',
    RemoteDNSType: 'DoH',
    RemoteDNSDomain: 'https://cloudflare-dns.com/dns-query',
    DomesticDNSIP: '1.2.3.4',
    DirectSites: ['geosite:ir'],
    DirectIp: ['geoip:ir', '10.0.0.0/8'],
    BlockSites: ['geosite:category-ads-all'],
    ProxyIp: ['1.1.1.1'],
    RouteOrder: 'proxy-block-direct',
    DnsHosts: { 'cloudflare-dns.com': '1.1.1.1' },
  };
  const read = readProfile(JSON.stringify(profile));
  t.deepEqual(read, {
    domainStrategy: 'IPIfNonMatch',
    rules: [
      { type: 'field', ip: ['1.1.1.1'], outboundTag: 'proxy' },
      { type: 'field', domain: ['geosite:category-ads-all'], outboundTag: 'block' },
      { type: 'field', domain: ['geosite:ir'], outboundTag: 'direct' },
      { type: 'field', ip: ['geoip:ir', '10.0.0.0/8'], outboundTag: 'direct' },
    ],
    dns: {
      tag: 'dns_out',
      queryStrategy: 'UseIP',
      servers: [
        { address: 'https://1.2.3.4/dns-query', domains: ['geosite:ir'] },
        { address: 'https://cloudflare-dns.com/dns-query', skipFallback: false },
      ],
      hosts: { 'cloudflare-dns.com': '1.1.1.1' },
    },
  });
  for (const scheme of ['happ', 'incy'])
    t.deepEqual(
      readProfile(`${scheme}://routing/onadd/${Buffer.from(JSON.stringify(profile)).toString('base64')}`),
      read,
    );
  t.deepEqual(readProfile('{}'), {
    domainStrategy: 'IPIfNonMatch',
    rules: [],
    dns: {
      tag: 'dns_out',
      queryStrategy: 'UseIP',
      servers: [{ address: 'https://8.8.8.8/dns-query', skipFallback: false }],
    },
  });
  t.is(readProfile(''), undefined);
});
