// Every protocol over every transport under every security, as entries.
import type { ClientRow } from '../../clients/contract.js';
import type { Account, EntryTemplate, Security, Transport } from '../../inbounds/contract.js';

export const UUID = '11111111-2222-4333-8444-555555555555';
const KEY = Buffer.alloc(32, 7).toString('base64');
export const PUBLIC_KEY = Buffer.alloc(32, 9).toString('base64url');

export const CLIENT = {
  id: 1,
  email: 'user',
  subId: '',
  uuid: UUID,
  password: 'p"w',
  auth: 'au',
  flow: '',
  security: 'auto',
  adTag: '',
} as unknown as ClientRow;

const ACCOUNTS: Readonly<Record<string, Account>> = {
  vless: { protocol: 'vless', id: UUID, flow: '', encryption: 'none' },
  'vless vision': { protocol: 'vless', id: UUID, flow: 'xtls-rprx-vision', encryption: 'none' },
  vmess: { protocol: 'vmess', id: UUID, security: 'auto' },
  trojan: { protocol: 'trojan', password: 'pw' },
  shadowsocks: { protocol: 'shadowsocks', method: 'chacha20-poly1305', password: 'pw' },
  'shadowsocks 2022': {
    protocol: 'shadowsocks',
    method: '2022-blake3-aes-256-gcm',
    serverKey: KEY,
    password: KEY,
  },
  http: { protocol: 'http', user: 'user', password: 'pw' },
  mixed: { protocol: 'mixed', user: 'user', password: 'pw' },
  hysteria: { protocol: 'hysteria', auth: 'au' },
  tuic: { protocol: 'tuic', uuid: UUID, password: 'pw', congestionControl: 'bbr', udpRelayMode: 'quic' },
  wireguard: {
    protocol: 'wireguard',
    privateKey: KEY,
    publicKey: KEY,
    address: ['10.0.0.2/32', 'fd00::2/128'],
    preSharedKey: KEY,
    keepAlive: 25,
    mtu: 1400,
    dns: '1.1.1.1',
  },
  mtproto: { protocol: 'mtproto', secret: 'ee00' },
};
const TRANSPORTS: Readonly<Record<string, Transport>> = {
  tcp: { kind: 'tcp' },
  'tcp http': { kind: 'tcp', http: { host: 'a.example', paths: ['/a%20b'], headers: { Accept: ['*/*'] } } },
  ws: { kind: 'ws', path: '/ws?ed=2048', host: 'a.example', headers: { 'X-A': 'b' } },
  'ws bare': { kind: 'ws', path: '', host: '' },
  grpc: { kind: 'grpc', serviceName: 'a/b', authority: '', multiMode: true },
  httpupgrade: { kind: 'httpupgrade', path: '/up', host: 'a.example' },
  xhttp: { kind: 'xhttp', path: '/x', host: '' },
  kcp: { kind: 'kcp', header: 'none' },
  own: { kind: 'own' },
};
const ECH = 'AEX+DQBBSwAgACBnotes'.padEnd(40, 'A');
const SECURITIES: Readonly<Record<string, Security>> = {
  none: { kind: 'none' },
  tls: {
    kind: 'tls',
    serverName: 'a.example',
    alpn: ['h2', 'http/1.1'],
    fingerprint: 'hellofirefox_120',
    cipherSuites: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:TLS_UNKNOWN',
    allowInsecure: true,
  },
  'tls pinned': { kind: 'tls', serverName: 'a.example', pinnedPeerCertSha256: ['00'.repeat(32)] },
  'tls ech': { kind: 'tls', serverName: 'a.example', echConfigList: ECH },
  'tls ech of dns': {
    kind: 'tls',
    serverName: 'a.example',
    echConfigList: 'b.example+https://1.1.1.1/dns-query',
  },
  reality: {
    kind: 'reality',
    serverName: 'a.example',
    shortId: '0123abcd',
    publicKey: PUBLIC_KEY,
    fingerprint: 'chrome',
    spiderX: '/',
  },
};

export interface Named {
  readonly name: string;
  readonly entry: EntryTemplate;
}
export const MATRIX: readonly Named[] = Object.entries(ACCOUNTS).flatMap(([protocol, account]) =>
  Object.entries(TRANSPORTS).flatMap(([way, transport]) =>
    Object.entries(SECURITIES).map(([security, value]) => ({
      name: `${protocol} / ${way} / ${security}`,
      entry: { server: '', port: 443, account, transport, security: value },
    })),
  ),
);

export const BASE: EntryTemplate = {
  server: '203.0.113.1',
  port: 443,
  account: ACCOUNTS['vless'] as Account,
  transport: { kind: 'tcp' },
  security: { kind: 'none' },
};
const HYSTERIA = {
  ...BASE,
  account: ACCOUNTS['hysteria'] as Account,
  transport: { kind: 'own' },
  security: { kind: 'tls', alpn: ['h3'], fingerprint: 'chrome', serverName: 'a.example' },
} as const;
/** What hosts and masks add. */
export const FURTHER: readonly Named[] = [
  { name: 'route in the UUID', entry: { ...BASE, vlessRoute: 443 } },
  {
    name: 'socket and fragment',
    entry: {
      ...BASE,
      security: { kind: 'tls', serverName: 'a.example' },
      socket: { tcpFastOpen: true, tcpMptcp: true, mark: 3 },
      finalMask: { tcp: [{ kind: 'fragment', packets: 'tlshello', length: '1-3' }] },
    },
  },
  {
    name: 'salamander and hops',
    entry: {
      ...HYSTERIA,
      finalMask: {
        udp: [{ kind: 'salamander', password: 'mask' }],
        udpHop: { ports: '20000-20010,30000', interval: '10-30' },
      },
    },
  },
];
/** Only 1.14 knows it. */
export const GECKO: Named = {
  name: 'gecko',
  entry: {
    ...HYSTERIA,
    finalMask: { udp: [{ kind: 'salamander', password: 'mask', packetSize: '100-900' }] },
  },
};
