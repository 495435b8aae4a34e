// One entry for each protocol, transport and security that mihomo has words for.
import type { EntryTemplate } from '../../inbounds/contract.js';
import type { EntryFill } from '../../subscription/contract.js';

const UUID = '11111111-2222-4333-8444-555555555555';
export const CLIENT = {
  id: 1,
  email: 'user',
  subId: 's',
  uuid: UUID,
  password: 'pw',
  auth: 'au',
  flow: 'xtls-rprx-vision',
  security: 'auto',
  adTag: '',
} as EntryFill['client'];
export const fill = (name: string, server = '203.0.113.1'): EntryFill => ({
  client: CLIENT,
  server,
  authority: `${server}:443`,
  name,
});

export const PIN = `${'AB:'.repeat(31)}AB`;
/** Public, as a server prints it. */
const KEY = 'Piehk2n8UewhMHMyJiBS-Sxn_OK0FalyFW1GAGzokHM';
const WG_KEY = 'Piehk2n8UewhMHMyJiBS+Sxn/OK0FalyFW1GAGzokHM=';
const ECH =
  'AEn+DQBFKwAgACABWIHUGj4u+PIggYXcR5JF0gYk3dCRioBW8uJq9H4mKAAIAAEAAQABAANAEnB1YmxpYy50bHMtZWNoLmRldgAA';

export const ACCOUNTS: Readonly<Record<string, EntryTemplate['account']>> = {
  vless: { protocol: 'vless', id: ({ uuid }) => uuid, flow: '', encryption: 'none' },
  'vless encrypted': {
    protocol: 'vless',
    id: UUID,
    flow: '',
    encryption: `mlkem768x25519plus.native.0rtt.${KEY}`,
  },
  vmess: { protocol: 'vmess', id: ({ uuid }) => uuid, security: ({ security }) => security },
  trojan: { protocol: 'trojan', password: ({ password }) => password },
  shadowsocks: {
    protocol: 'shadowsocks',
    method: 'chacha20-poly1305',
    password: ({ password }) => password,
  },
  'shadowsocks 2022': {
    protocol: 'shadowsocks',
    method: '2022-blake3-aes-256-gcm',
    serverKey: Buffer.alloc(32, 1).toString('base64'),
    password: Buffer.alloc(32, 2).toString('base64'),
  },
  http: { protocol: 'http', user: 'u', password: '12:30' },
  mixed: { protocol: 'mixed', user: 'u', password: 'no' },
  hysteria: { protocol: 'hysteria', auth: ({ auth }) => auth },
  tuic: {
    protocol: 'tuic',
    uuid: ({ uuid }) => uuid,
    password: ({ password }) => password,
    congestionControl: 'bbr',
    udpRelayMode: 'native',
  },
  wireguard: {
    protocol: 'wireguard',
    privateKey: WG_KEY,
    publicKey: WG_KEY,
    address: ['10.0.0.2/32', 'fd00::2/128'],
    preSharedKey: WG_KEY,
    keepAlive: 25,
    mtu: 1420,
    dns: '1.1.1.1, 8.8.8.8',
  },
  amneziawg: {
    protocol: 'amneziawg',
    privateKey: WG_KEY,
    publicKey: WG_KEY,
    address: ['10.0.0.2/32'],
    preSharedKey: '',
    keepAlive: 0,
    mtu: 1280,
    dns: '',
    ...{ jc: 4, jmin: 40, jmax: 70, s1: 15, s2: 18 },
    ...{ h1: '1234567', h2: '2345678', h3: '3456789', h4: '4567890' },
  },
};

type Transport = EntryTemplate['transport'];
const TCP: Transport = { kind: 'tcp' };
const WEB: Readonly<Record<string, Transport>> = {
  ws: { kind: 'ws', path: '/ws?ed=2048', host: 'h.example', headers: { 'X-Note': '2026-07-27' } },
  httpupgrade: { kind: 'httpupgrade', path: '/up', host: 'h.example' },
};
const GRPC: Transport = { kind: 'grpc', serviceName: 'weir', authority: '', multiMode: false };
const HTTP: Transport = { kind: 'tcp', http: { host: 'h.example', paths: ['/', '/a'], method: 'GET' } };
const XHTTP: Transport = {
  ...{ kind: 'xhttp', path: '/x', host: 'h.example', mode: 'packet-up', headers: { 'X-A': '1' } },
  ...{ xPaddingBytes: '100-1000', xPaddingObfsMode: true, xPaddingKey: 'k', xPaddingHeader: 'H' },
  ...{ xPaddingPlacement: 'header', xPaddingMethod: 'tokenish', uplinkHTTPMethod: 'PUT' },
  ...{ sessionIDPlacement: 'header', sessionIDKey: 's', sessionIDTable: 'hex', sessionIDLength: '16-32' },
  ...{ seqPlacement: 'query', seqKey: 'q', uplinkDataPlacement: 'header', uplinkDataKey: 'd' },
  ...{ uplinkChunkSize: 4096, scMaxEachPostBytes: '500000', scMinPostsIntervalMs: 10, noGRPCHeader: true },
  xmux: { maxConcurrency: '16-32', hMaxRequestTimes: '600-900', hKeepAlivePeriod: 30 },
  download: {
    server: 'd.example',
    port: 8443,
    transport: { kind: 'xhttp', path: '/d', host: 'd.example' },
    security: { kind: 'tls', serverName: 'd.example', fingerprint: 'firefox' },
  },
};
const NONE = { kind: 'none' } as const;
const TLS: EntryTemplate['security'] = {
  kind: 'tls',
  serverName: 'h.example',
  alpn: ['h2', 'http/1.1'],
  fingerprint: 'chrome',
  allowInsecure: true,
  pinnedPeerCertSha256: ['not a pin', 'ab'.repeat(32)],
  echConfigList: ECH,
  verifyPeerCertByName: 'other.example',
};
const REALITY: EntryTemplate['security'] = {
  kind: 'reality',
  serverName: 'h.example',
  shortId: () => '2351e1',
  publicKey: KEY,
  fingerprint: 'HelloFirefox_Auto',
  spiderX: '/',
  x25519mlkem768: true,
};

/** [protocol, transports, securities] */
const WAYS: readonly (readonly [string, readonly Transport[], readonly EntryTemplate['security'][]])[] = [
  ['vless', [TCP, HTTP, ...Object.values(WEB), GRPC, XHTTP], [NONE, TLS]],
  ['vless', [TCP, GRPC, XHTTP], [REALITY]],
  ['vless encrypted', [TCP, XHTTP], [NONE]],
  ['vmess', [TCP, HTTP, ...Object.values(WEB), GRPC], [NONE, TLS]],
  ['vmess', [TCP, GRPC], [REALITY]],
  ['trojan', [TCP, ...Object.values(WEB), GRPC], [TLS]],
  ['trojan', [TCP, GRPC], [REALITY]],
  ['shadowsocks', [TCP], [NONE]],
  ['shadowsocks', Object.values(WEB), [NONE, TLS]],
  ['shadowsocks 2022', [TCP, ...Object.values(WEB)], [NONE]],
  ['http', [TCP], [NONE, TLS]],
  ['mixed', [TCP], [NONE, { kind: 'tls' }]],
  ['hysteria', [{ kind: 'own' }], [TLS]],
  ['tuic', [{ kind: 'own' }], [TLS]],
  ['wireguard', [{ kind: 'own' }], [NONE]],
  ['amneziawg', [{ kind: 'own' }], [NONE]],
];

export interface Named {
  readonly name: string;
  readonly entry: EntryTemplate;
}
export const ENTRIES: readonly Named[] = WAYS.flatMap(([protocol, transports, securities]) =>
  transports.flatMap((transport) =>
    securities.map((security) => ({
      name: [
        protocol,
        transport.kind === 'tcp' && transport.http ? 'http' : transport.kind,
        security.kind,
      ].join(' '),
      entry: {
        ...{ server: '', port: 443, account: ACCOUNTS[protocol] as EntryTemplate['account'] },
        ...{ transport, security, ipVersion: 'ipv4-prefer' as const },
        ...{ socket: { tcpFastOpen: true, tcpMptcp: true, mark: 255 } },
        ...(protocol === 'hysteria' && {
          finalMask: {
            udp: [{ kind: 'salamander' as const, password: '0x1f' }],
            udpHop: { ports: '20000-30000,40000', interval: '5-10' },
          },
        }),
      },
    })),
  ),
);
