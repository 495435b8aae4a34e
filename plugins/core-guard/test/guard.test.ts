// What the guard says of single parts of the core's config: those that plugins add, and those that are composed again.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { reachOf } from '../address.js';
import type { Beside, ConfigPart } from '../contract.js';
import { destinationOf, nameOf } from '../destination.js';
import { Guard } from '../guard.js';

const ALONE: Beside = { inbounds: [] };
let data: string;
let certificates: string;
let guard: Guard;
test.before(async () => {
  data = await mkdtemp(join(tmpdir(), 'weir-test-'));
  certificates = await mkdtemp(join(tmpdir(), 'weir-test-'));
  guard = new Guard({
    listeners: {
      places: () => [
        { name: 'panel', port: 2053 },
        { name: 'subscription', port: 2096 },
      ],
    } as never,
    dataDirectory: data,
    config: {
      fallbackDestinations: [
        '127.0.0.1:8080',
        '127.0.0.1:2096',
        '/run/web.sock',
        join(data, 'web.sock'),
        join(certificates, 'x'),
      ],
      certificateDirectories: [certificates],
      socketDirectories: [certificates],
    },
  });
});
test.after.always(async () => {
  for (const folder of [data, certificates]) await rm(folder, { recursive: true, force: true });
});

const problem = (part: object, beside = ALONE) => guard.problem(part as ConfigPart, beside);
const findings = async (part: object, beside = ALONE) =>
  (await guard.examine(part as ConfigPart, beside)).map(({ message }) => message);
const fallback = (dest: unknown) => ({ settings: { fallbacks: [{ dest }] } });

test('an outbound may lead to other programs of this machine, and nowhere into the panel', async (t) => {
  const ways: ((host: string, port: number) => object)[] = [
    (host, port) => ({ settings: { redirect: `${host}:${port}` } }),
    (host, port) => ({ settings: { peers: [{ endpoint: `${host}:${port}` }] } }),
    (host, port) => ({ settings: { portMap: { '80': `${host}:${port}` } } }),
    (address, port) => ({ settings: { vnext: [{ address, port }] } }),
    (address, port) => ({ settings: { servers: [{ address, port: String(port) }] } }),
    (Address, PORT) => ({ settings: { Address, PORT } }),
  ];
  for (const way of ways) {
    for (const [host, port] of [
      ['127.0.0.1', 2053],
      ['localhost', 2096],
    ] as const)
      t.regex((await problem(way(host, port))) ?? '', /panel/, JSON.stringify(way(host, port)));
    for (const [host, port] of [
      ['127.0.0.1', 9050],
      ['198.51.100.7', 2053],
    ] as const)
      t.is(await problem(way(host, port)), undefined, JSON.stringify(way(host, port)));
  }
  for (const part of [
    { webhook: { url: 'http://127.0.0.1:2053/x' } },
    { burstObservatory: { pingConfig: { connectivity: 'http://localhost:2053/' } } },
    { burstObservatory: { pingConfig: { destination: 'http://[::1]:2053/' } } },
    { observatory: { probeURL: 'http://127.0.0.1:2053/' } },
  ])
    t.regex((await problem(part)) ?? '', /the panel's own/, JSON.stringify(part));
  t.is(await problem({ settings: { redirect: ':2053' } }), undefined, 'the port alone');
  for (const settings of [
    { redirect: '127.0.0.1:0' },
    { redirect: ' localhost:00' },
    { address: '127.0.0.1', nonIPQuery: 'skip' },
    { address: '::1', port: 0 },
    { portMap: { 5000: '127.0.0.1:' } },
  ])
    t.regex((await problem({ settings })) ?? '', /without a port users choose one/, JSON.stringify(settings));
  for (const settings of [{ redirect: '127.0.0.1:002053' }, { address: ' 127.0.0.1 ', port: 2053 }])
    t.regex((await problem({ settings })) ?? '', /is not a valid destination/, JSON.stringify(settings));
  for (const part of [
    { settings: { redirect: '198.51.100.7:0' } },
    { settings: { address: '9.9.9.9' } },
    { settings: { address: 'a.example', port: 0 } },
    { settings: { portMap: { 5000: 'a.example:', 5001: ':80' } } },
    { address: '127.0.0.1', domains: ['a.example'] },
    { address: 'https://dns.example/dns-query', port: 443 },
  ])
    t.is(await problem(part), undefined, JSON.stringify(part));
  for (const address of ['/run/other.sock', '@other'])
    t.regex((await problem({ settings: { address, port: 1 } })) ?? '', /is a Unix socket/, address);
});

test('a rule, a log or an address with which the core would open files is refused', async (t) => {
  for (const part of [
    { log: { access: '/tmp/x' } },
    { log: { error: '/tmp/x' } },
    { domain: ['example.com', 'ext:../panel.secret:x'] },
    { ip: ['ext-ip:/etc/passwd:x'] },
    { domain: 'EXT-DOMAIN:a\\b:x' },
    { domain: 'a.example,ext:../../etc/passwd:x' },
    { hosts: { 'ext:../../etc/passwd:x': '203.0.113.1' } },
    { port: 'env:WEIR_X' },
    { listen: 'env:WEIR_X' },
    { settings: { address: 'env:WEIR_X' } },
  ])
    t.truthy(await problem(part), JSON.stringify(part));
  for (const part of [
    { log: { access: 'none', error: '' } },
    { domain: ['ext:geosite.dat:cn', 'domain:env'] },
    { remark: 'env:WEIR_X' },
  ])
    t.is(await problem(part), undefined, JSON.stringify(part));
});

test("the core's own API is refused as a target, anywhere in a list", async (t) => {
  for (const tag of ['weir.api', ['direct', 'weir.api'], 'direct, weir.api '])
    t.regex((await problem({ inboundTag: tag })) ?? '', /the core's own API/, JSON.stringify(tag));
  t.notRegex((await problem({ inboundTag: ['weir.apis'] })) ?? '', /the core's own API/);
});

test('a setting with which the core takes all memory is refused', async (t) => {
  for (const part of [
    { settings: { noises: [{ type: 'rand', packet: '1-1000000000' }] } },
    { streamSettings: { xhttpSettings: { XPaddingBytes: '1-2000000000' } } },
    { streamSettings: { xhttpSettings: { extra: { xPaddingBytes: 2_000_000_000 } } } },
    { settings: { workers: 2_000_000_000 } },
    { burstObservatory: { pingConfig: { sampling: 2_000_000_000 } } },
  ])
    t.regex((await problem(part)) ?? '', /are too many/, JSON.stringify(part));
  for (const interval of ['11ns', '900ms', '2000000h', '1h24h', 11])
    t.regex((await problem({ pingConfig: { interval } })) ?? '', /from 1s to 24h/, String(interval));
  for (const part of [
    { settings: { noises: [{ type: 'base64', packet: 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=' }] } },
    { settings: { noises: [{ type: 'rand', packet: '10-65535' }] } },
    { streamSettings: { xhttpSettings: { xPaddingBytes: '100-1000' } } },
    { settings: { workers: 2 } },
    { burstObservatory: { pingConfig: { sampling: 10, interval: '1m30s' } } },
  ])
    t.is(await problem(part), undefined, JSON.stringify(part));
});

test('masks with more bytes than the core has room for are refused', async (t) => {
  const mask = (settings: object) => ({
    streamSettings: { finalmask: { udp: [{ type: 'noise', settings }] } },
  });
  for (const part of [
    mask({ noise: [{ rand: '1-65536' }] }),
    mask({ noise: Array(65).fill({ rand: 1 }) }),
    { streamSettings: { finalmask: { tcp: [{ settings: { clients: [Array(65).fill({})] } }] } } },
    { streamSettings: { finalmask: { tcp: [{ settings: { clients: Array(65).fill([]) } }] } } },
  ])
    t.regex((await problem(part)) ?? '', /are too many: the core has room for/, JSON.stringify(part));
  for (const part of [
    mask({ noise: Array(64).fill({ rand: 65_535 }) }),
    mask({ noise: [{ type: 'array', packet: Array(1200).fill(7) }] }),
  ])
    t.is(await problem(part), undefined);
});

const KEY = Buffer.alloc(32, 7).toString('base64');
const peer = (more: object) => ({
  settings: { peers: [{ publicKey: KEY, endpoint: '203.0.113.1:1', ...more }] },
});
const xhttp = (xhttpSettings: object, more: object = {}) => ({
  streamSettings: { network: 'xhttp', xhttpSettings, ...more },
});
const named = (serverName: string) => ({ security: 'tls', tlsSettings: { serverName } });
const hop = (udpHop: object) => ({ streamSettings: { finalmask: { quicParams: { udpHop } } } });
const cut = (length: unknown) => ({
  streamSettings: { finalmask: { tcp: [{ type: 'fragment', settings: { length } }] } },
});

test('an outbound with which a connection crashes the core is refused; one like it is not', async (t) => {
  for (const [part, field] of [
    [peer({ keepAlive: 65_536 }), 'keepAlive'],
    [peer({ preSharedKey: 'x'.repeat(3000) }), 'preSharedKey'],
    [peer({ publicKey: Buffer.alloc(31).toString('base64') }), 'publicKey'],
    [peer({ allowedIPs: ['0.0.0.0/0', ''] }), 'allowedIPs'],
    [xhttp({ host: 'a b' }), 'host'],
    [xhttp({ host: 'a/b' }), 'host'],
    [xhttp({ host: '2001:db8::1' }), 'host'],
    [xhttp({ extra: { Host: 'a:b' } }), 'Host'],
    [{ streamSettings: { network: 'SplitHTTP', splithttpSettings: { host: 'a@b' } } }, 'host'],
    [xhttp({}, named('2001:db8::1')), 'streamSettings'],
    [xhttp({}, { realitySettings: { servername: 'a b' } }), 'streamSettings'],
    [xhttp({ scMaxEachPostBytes: -1 }), 'scMaxEachPostBytes'],
    [xhttp({ scMaxEachPostBytes: '0-5' }), 'scMaxEachPostBytes'],
    [xhttp({ extra: { scMaxEachPostBytes: '5-0' } }), 'scMaxEachPostBytes'],
    [xhttp({ downloadSettings: { address: '203.0.113.1', port: 1 } }), 'downloadSettings'],
    [xhttp({ downloadSettings: { network: 'tcp' } }), 'downloadSettings'],
    [xhttp({ downloadSettings: { network: 'xhttp', ...named('a b') } }), 'downloadSettings'],
    [cut('-5--1'), 'length'],
    [cut('1--5'), 'length'],
    [{ settings: { fragment: { length: -1 } } }, 'length'],
    [hop({ ports: '1-2' }), 'udpHop'],
    [hop({ ports: 5, interval: '' }), 'udpHop'],
    [hop({ ports: '1-2', interval: '5-0' }), 'udpHop'],
    [{ streamSettings: { kcpSettings: { MTU: 0 } } }, 'MTU'],
  ] as const) {
    const says = (await problem(part)) ?? '';
    t.regex(says, new RegExp(`${field}: a connection would crash the core; `), JSON.stringify(part));
  }
  for (const part of [
    peer({ keepAlive: 65_535, preSharedKey: '', allowedIPs: ['0.0.0.0/0', '::/0', '10.0.0.1'] }),
    peer({ preSharedKey: '0f'.repeat(32), publicKey: KEY.replace('=', '') }),
    xhttp({ host: 'a.example:8443', scMaxEachPostBytes: '1-5' }, named('bücher.example')),
    xhttp({ host: '', scMaxEachPostBytes: 0, downloadSettings: null }, named('')),
    xhttp({ downloadSettings: { network: 'XHTTP', ...named('a_b.example') } }),
    { streamSettings: { network: 'tcp', ...named('2001:db8::1') } },
    { streamSettings: { network: 'ws', wsSettings: { host: 'a b' } } },
    cut('10-20'),
    hop({ ports: '1-2', interval: '5-10' }),
    hop({ ports: '' }),
    { streamSettings: { kcpSettings: { mtu: 1350 } } },
    { listen: '127.0.0.1', ...hop({ ports: '1-2' }) },
  ])
    t.is(await problem(part), undefined, JSON.stringify(part));
});

test("the panel's own tags are refused wherever a key names a tag, and names like them elsewhere are not", async (t) => {
  for (const part of [
    { settings: { inboundTag: 'weir.dns' } },
    { proxySettings: { tag: 'weir.dns' } },
    { streamSettings: { sockopt: { dialerProxy: 'weir.dns' } } },
    { settings: { reverse: { tag: 'weir.dns' } } },
    { reverse: { bridges: [{ tag: 'weir.dns', domain: 'a.example' }] } },
    { inboundTag: 'a, weir.dns' },
    { OutboundTag: 'weir.dns' },
    { balancerTag: 'weir.udp.a' },
    { fallbackTag: 'weir.blocked' },
  ])
    t.regex((await problem(part)) ?? '', /belong to the panel/, JSON.stringify(part));
  for (const selector of [['weir.dns'], ['a', 'we'], 'weir.', ['']])
    t.regex((await problem({ selector })) ?? '', /takes in the panel's own/, JSON.stringify(selector));
  for (const part of [
    { domain: ['weir.example'], outboundTag: 'direct' },
    { selector: ['wa', 'direct'] },
    { subjectSelector: ['w'] },
  ])
    t.is(await problem(part), undefined, JSON.stringify(part));
});

test('when the config is composed again, only what is never right keeps a part from the core', async (t) => {
  const gone = { tlsSettings: { certificates: [{ certificateFile: join(certificates, 'gone.crt') }] } };
  t.regex((await findings(gone)).join(), /ENOENT/);
  t.is(await problem(gone), undefined, 'a file that is away for a moment takes no inbound from its users');
  const outside = { tlsSettings: { certificates: [{ certificateFile: '/etc/shadow' }] } };
  t.regex((await problem(outside)) ?? '', /outside the folders for certificates/);
  t.regex((await findings(fallback(8081))).join(), /is on this machine/);
  t.is(await problem(fallback(8081)), undefined, 'who saved it was asked then');
  t.regex((await problem(fallback(2053))) ?? '', /the panel's own/);
  t.regex((await problem(fallback(2096))) ?? '', /listener subscription/, 'though it is named');
  t.regex(
    (await problem({ streamSettings: { ...fallback(8081), masterKeyLog: '/tmp/x' } })) ?? '',
    /leave this key out/,
    'behind what only a save looks at',
  );
});

test('the port of an inbound is open to a fallback on this machine alone', async (t) => {
  const beside = { inbounds: [{ port: 8443 }] } as unknown as Beside;
  for (const dest of [8443, '127.0.0.1:8443', 'LOCALHOST.:8443', '127.9.9.9:8443'])
    t.deepEqual(await findings(fallback(dest), beside), [], String(dest));
  for (const dest of ['10.9.9.9:8443', '127.0.0.1:8444'])
    t.regex((await findings(fallback(dest), beside)).join(), /WEIR_FALLBACK_DESTINATIONS/, dest);
  const listening = { inbounds: [{ listen: '@@child' }] } as unknown as Beside;
  t.deepEqual(await findings(fallback('@child'), listening), []);
  t.regex((await findings(fallback('@other'), listening)).join(), /a Unix socket of no inbound/);
});

test('a named socket is refused when it lies in the data folder, directly or through a link', async (t) => {
  await mkdir(join(data, 'engine'));
  await writeFile(join(data, 'engine', 'api.sock'), '');
  await symlink(join(data, 'engine', 'api.sock'), join(certificates, 'x'));
  t.deepEqual(await findings(fallback('/run/web.sock')), []);
  for (const path of [join(data, 'web.sock'), join(certificates, 'x')])
    t.regex((await findings(fallback(path))).join(), /is in the panel's data folder/, path);
});

test('nothing that the panel keeps in its data folder is a certificate', async (t) => {
  for (const folder of ['backups', 'plugins', 'bin', 'certs']) {
    await mkdir(join(data, folder));
    await writeFile(join(data, folder, 'a.key'), '');
    const said = (await problem({ keyFile: join(data, folder, 'a.key') })) ?? '';
    t.is(
      said === '' ? folder : said.replace(/^.* belongs/, 'belongs'),
      folder === 'certs' ? 'certs' : 'belongs to the panel itself',
    );
  }
});

test('every special range counts as private, and this machine in every spelling as itself', (t) => {
  for (const address of [
    '100.100.100.200',
    '172.16.0.1',
    '192.0.0.8',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    'fd00:ec2::254',
    'fe80::1',
    'ff02::1',
  ])
    t.is(reachOf(address), 'private', address);
  for (const address of ['127.1.2.3', '0.1.2.3', '::1', '::']) t.is(reachOf(address), 'own', address);
  for (const address of ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])
    t.is(reachOf(address), 'public', address);
  for (const text of ['8080', 'LOCALHOST..:8080', '[::]:8080', '0:8080'])
    t.is(nameOf(destinationOf(text)), '127.0.0.1:8080', text);
});
