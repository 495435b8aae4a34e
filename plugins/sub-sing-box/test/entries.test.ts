// What sing-box cannot express, what a wrong value of one client does, and single fields.
import test from 'ava';
import type { Account, ByClient, EntryTemplate, Security, Transport } from '../../inbounds/contract.js';
import { cannotWrite, compileOutbound } from '../outbound.js';
import { BASE, CLIENT, FURTHER, MATRIX, PUBLIC_KEY, UUID } from './matrix.js';

const tls: Security = { kind: 'tls', serverName: 'a.example' };
const over = (transport: Transport, security: Security = { kind: 'none' }): EntryTemplate => ({
  ...BASE,
  transport,
  security,
});
const of = (account: Account, more: Partial<EntryTemplate> = {}): EntryTemplate => ({
  ...BASE,
  account,
  ...more,
});
const shadowsocks = { protocol: 'shadowsocks', method: 'aes-128-gcm', password: 'pw' };
const hysteria = { protocol: 'hysteria', auth: 'a' };
const ws: Transport = { kind: 'ws', path: '/', host: 'cdn.example' };
const grpc: Transport = { kind: 'grpc', serviceName: 's', authority: '', multiMode: false };

const CANNOT: readonly (readonly [EntryTemplate, RegExp])[] = [
  [over({ kind: 'xhttp', path: '/', host: '' }), /XHTTP/],
  [over({ kind: 'kcp', header: 'none' }), /mKCP/],
  [over({ kind: 'own' }), /vless over a transport of its own/],
  [over({ kind: 'tcp', http: { host: '', paths: [] } }, tls), /HTTP\/2/],
  [over({ kind: 'ws', path: '/%zz', host: '' }), /broken escape/],
  [over({ kind: 'httpupgrade', path: '/a?b=c', host: '' }), /query/],
  [over({ ...grpc, serviceName: '/own/Tun' }), /gRPC path/],
  [over({ ...grpc, authority: 'b.example' }, tls), /authority/],
  [of({ protocol: 'vless', id: UUID, flow: '', encryption: 'mlkem768x25519plus.native' }), /encryption/],
  [of({ protocol: 'vless', id: UUID, flow: 'xtls-rprx-direct', encryption: 'none' }), /flow/],
  [of({ protocol: 'mtproto', secret: 'ee' }), /no mtproto/],
  [of({ protocol: 'amneziawg' }), /no amneziawg/],
  [of({ protocol: 'constructor' }), /no constructor/],
  [of({ ...shadowsocks, method: 'rc4' }), /method rc4/],
  [of(shadowsocks, { security: tls }), /plain connections/],
  [of(shadowsocks, { transport: ws, security: tls }), /one name for host and TLS/],
  [of(shadowsocks, { transport: { ...ws, path: '/?ed=2048' } }), /early data/],
  [of(hysteria, { transport: { kind: 'own' } }), /needs TLS/],
  [of(hysteria, { security: tls, finalMask: { udp: [{ kind: 'header-srtp' }] } }), /header-srtp/],
  [of(hysteria, { security: tls, finalMask: { udpHop: { ports: '1-2,x' } } }), /list of ports/],
  [
    of({ protocol: 'tuic', uuid: UUID, password: '', congestionControl: 'reno' }, { security: tls }),
    /congestion/,
  ],
  [of({ protocol: 'http', user: '', password: '' }, { transport: ws }), /over a transport/],
  [of({ protocol: 'mixed', user: '', password: '' }, { security: tls }), /SOCKS under TLS/],
  [{ ...BASE, finalMask: { tcp: [{ kind: 'sudoku' }] } }, /sudoku/],
  [over({ kind: 'tcp' }, { ...tls, pinnedPeerCertSha256: ['aa'] }), /public key/],
  [over({ kind: 'tcp' }, { ...tls, verifyPeerCertByName: 'b.example' }), /name/],
  [over({ kind: 'tcp' }, { ...tls, echConfigList: 'no base64!' }), /ECH/],
];
for (const [entry, reason] of CANNOT)
  test(`cannot: ${reason.source} (${entry.account.protocol}, ${entry.transport.kind})`, (t) =>
    t.regex(cannotWrite(entry) ?? '', reason));

test('a name of the certificate that is asked for is no obstacle', (t) => {
  const entry = over({ kind: 'tcp' }, { ...tls, verifyPeerCertByName: 'b.example, a.example' });
  t.is(cannotWrite(entry), undefined);
});

const written = (entry: EntryTemplate, name = 'n', client = CLIENT): Record<string, unknown> | undefined => {
  const text = compileOutbound(entry)({ client, server: 'sub.example', authority: '', name });
  return text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
};

test('a host among the headers, in any case, is left to the host of the transport', (t) => {
  const headers = { HOST: 'a.example', host: 'b.example', 'X-A': 'b' };
  const transport = (kind: 'ws' | 'httpupgrade') =>
    written(over({ kind, path: '/', host: 'cdn.example', headers }))?.['transport'];
  t.deepEqual(transport('ws'), { type: 'ws', path: '/', headers: { Host: 'cdn.example', 'X-A': 'b' } });
  t.like(transport('httpupgrade'), { host: 'cdn.example', headers: { 'X-A': 'b' } });
});

test('all that the format claims is JSON with tag, type and server', (t) => {
  for (const { name, entry } of [...MATRIX, ...FURTHER].filter(({ entry: one }) => !cannotWrite(one))) {
    const [first = ''] = compileOutbound(entry)({ client: CLIENT, server: 's', authority: '', name }).split(
      '\n',
    );
    const { tag, type } = JSON.parse(first) as { tag: string; type: string };
    t.deepEqual([tag, typeof type], [name, 'string']);
  }
});

test('a value of one client that would break the document leaves the entry out', (t) => {
  const bad =
    <T>(value: T): ByClient<T> =>
    () =>
      value;
  const wireguard = MATRIX.find(({ name }) => name === 'wireguard / own / none')?.entry as EntryTemplate;
  const with_ = (fields: Record<string, ByClient<string | readonly string[]>>): EntryTemplate => ({
    ...wireguard,
    account: { ...wireguard.account, ...fields } as EntryTemplate['account'],
  });
  t.truthy(written(wireguard));
  t.is(written(with_({ privateKey: bad('') })), undefined, 'only the client knows its key');
  t.is(written(with_({ publicKey: bad('x') })), undefined);
  t.is(written(with_({ preSharedKey: bad('x') })), undefined);
  for (const address of [
    '10.0.0.2',
    '999.0.0.1/32',
    '10.0.0.1/33',
    'fd00::1/129',
    'fd00::1%1/64',
    'a.example/32',
  ])
    t.is(written(with_({ address: bad([address]) })), undefined, address);
  t.is(written(with_({ address: bad([]) })), undefined);

  const reality = (shortId: string, publicKey: string): EntryTemplate => ({
    ...BASE,
    security: {
      kind: 'reality',
      serverName: 'a.example',
      shortId: bad(shortId),
      publicKey: bad(publicKey),
      fingerprint: 'chrome',
      spiderX: '/',
    },
  });
  t.truthy(written(reality('', PUBLIC_KEY)));
  t.is(written(reality('abc', PUBLIC_KEY)), undefined, 'half a byte');
  t.is(written(reality('ab', 'short')), undefined);
  const tuic = { protocol: 'tuic', uuid: 'no uuid', password: '', congestionControl: 'bbr' };
  t.is(written(of(tuic, { security: tls })), undefined);
});

test('fields that other programs write in another way', (t) => {
  const fingerprint = (name: string): unknown => {
    const outbound = written(over({ kind: 'tcp' }, { ...tls, fingerprint: name })) as {
      tls: { utls?: unknown };
    };
    return outbound.tls.utls;
  };
  t.deepEqual(fingerprint('helloios_14'), { enabled: true, fingerprint: 'ios' });
  t.deepEqual(fingerprint('randomizednoalpn'), { enabled: true, fingerprint: 'randomized' });
  t.deepEqual(fingerprint('netscape'), { enabled: true, fingerprint: 'chrome' });
  t.is(fingerprint('unsafe'), undefined);
  t.is(fingerprint(''), undefined);

  const flow = { protocol: 'vless', id: UUID, flow: 'xtls-rprx-vision-udp443', encryption: 'none' };
  t.is(written(of(flow, { security: tls }))?.['flow'], 'xtls-rprx-vision');
  t.is(written(of({ protocol: 'vmess', id: UUID, security: 'aes-128-cfb' }))?.['security'], 'auto');

  const plugin = written(of(shadowsocks, { transport: { ...ws, path: '/a;b=c' } }));
  t.is(plugin?.['plugin_opts'], String.raw`mode=websocket;mux=0;host=cdn.example;path=/a\;b\=c`);

  const early = written(over({ kind: 'ws', path: '/a?ed=2048', host: '' }, tls))?.['transport'];
  t.deepEqual(early, {
    type: 'ws',
    path: '/a',
    headers: { Host: 'a.example' },
    max_early_data: 2048,
    early_data_header_name: 'Sec-WebSocket-Protocol',
  });
});
