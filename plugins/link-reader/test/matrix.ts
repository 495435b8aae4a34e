// Entries of every protocol over every transport, with every security and mask that a link can say.
import type { Account, FinalMask, ProxyEntry, Security, Transport } from '../../inbounds/contract.js';

const U = '11111111-2222-4333-8444-555555555555';
const ODD = `p@ss/w+rd= ?#&%:é!'()*~`;

const TRANSPORTS: readonly Transport[] = [
  { kind: 'tcp' },
  { kind: 'tcp', http: { host: 'h.example.com', paths: ['/a b'] } },
  { kind: 'ws', path: '/ws?ed=2048', host: 'h.example.com' },
  { kind: 'ws', path: `/${ODD}`, host: '' },
  { kind: 'httpupgrade', path: '/hu', host: '' },
  { kind: 'grpc', serviceName: 'svc/é', authority: 'a.example', multiMode: true },
  { kind: 'grpc', serviceName: '', authority: '', multiMode: false },
  { kind: 'xhttp', path: '/x', host: '' },
  {
    kind: 'xhttp',
    path: '/x',
    host: 'x.example.com',
    mode: 'packet-up',
    headers: { 'X-Forwarded': '1' },
    xPaddingBytes: '100-1000',
    xPaddingObfsMode: true,
    xPaddingKey: 'k',
    xPaddingHeader: 'h',
    xPaddingPlacement: 'header',
    xPaddingMethod: 'm',
    uplinkHTTPMethod: 'PUT',
    sessionIDPlacement: 'header',
    sessionIDKey: 'X-Session',
    sessionIDTable: 't',
    sessionIDLength: '8',
    seqPlacement: 'cookie',
    seqKey: 's',
    uplinkDataPlacement: 'body',
    uplinkDataKey: 'd',
    uplinkChunkSize: 4096,
    scMaxEachPostBytes: 500_000,
    scMinPostsIntervalMs: '10-50',
    noGRPCHeader: true,
    xmux: { maxConcurrency: '16-32', hKeepAlivePeriod: -1 },
    download: {
      server: 'd.example',
      port: 8443,
      transport: { kind: 'xhttp', path: '/d', host: 'd.host', mode: 'auto' },
      security: { kind: 'tls', serverName: 'd.sni', pinnedPeerCertSha256: ['aa', 'bb'], allowInsecure: true },
    },
  },
  {
    kind: 'xhttp',
    path: '/y',
    host: '',
    mode: '',
    download: {
      server: 'd.example',
      port: 443,
      transport: { kind: 'xhttp', path: '/', host: '' },
      security: {
        kind: 'reality',
        serverName: 'r.example',
        shortId: 'ab',
        publicKey: 'PBK',
        fingerprint: 'firefox',
        spiderX: '/s',
        mldsa65Verify: 'V',
      },
    },
  },
  { kind: 'kcp', header: 'none' },
  { kind: 'kcp', header: 'wechat-video', seed: ODD, mtu: 1350, tti: 50 },
];
const TLS: readonly Security[] = [
  { kind: 'tls' },
  { kind: 'tls', serverName: '', fingerprint: '' },
  {
    kind: 'tls',
    serverName: 's.example',
    alpn: ['h2', 'http/1.1'],
    fingerprint: 'chrome',
    echConfigList: 'AEX+DQ/==',
    verifyPeerCertByName: 'a.example,b.example',
    pinnedPeerCertSha256: ['0a'.repeat(32), 'ff'.repeat(32)],
  },
];
const INSECURE: Security = { kind: 'tls', serverName: 's.example', allowInsecure: true };
const REALITY: readonly Security[] = [
  {
    kind: 'reality',
    serverName: 'r.example',
    shortId: '',
    publicKey: 'PBK',
    fingerprint: 'chrome',
    spiderX: '',
  },
  {
    kind: 'reality',
    serverName: 'r.example',
    shortId: '0123456789abcdef',
    publicKey: 'Tx5yj1bRcOPHkdvT2pIAQ2zh0gQ8m4OPdnzqXJxxV3o',
    fingerprint: 'firefox',
    spiderX: '/dafd018f50a389b',
    mldsa65Verify: 'x'.repeat(2600),
  },
];
const NONE: Security = { kind: 'none' };
const MASKS: readonly (FinalMask | undefined)[] = [
  undefined,
  {
    tcp: [
      {
        kind: 'sudoku',
        password: ODD,
        ascii: 'prefer_ascii',
        customTables: ['t'],
        paddingMin: 1,
        paddingMax: 9,
      },
      { kind: 'fragment', packets: 'tlshello', length: '100-200', delay: 10, maxSplit: '1-3' },
    ],
    udp: [
      { kind: 'salamander', password: 'pw' },
      { kind: 'mkcp-legacy', header: 'dns', value: 'd.example' },
      { kind: 'header-dns', domain: 'd.example' },
      { kind: 'header-srtp' },
      { kind: 'mkcp-original' },
      { kind: 'mkcp-aes128gcm', password: 'pw' },
    ],
    udpHop: { ports: '20000-50000', interval: '5-10' },
  },
];

const FAMILY: readonly (readonly [Account, readonly Security[]])[] = [
  [{ protocol: 'vless', id: U, flow: '', encryption: 'none' }, [NONE, ...TLS, INSECURE, ...REALITY]],
  [
    { protocol: 'vless', id: U, flow: 'xtls-rprx-vision', encryption: 'mlkem768x25519plus.native.0rtt.k' },
    [NONE, ...TLS, INSECURE, ...REALITY],
  ],
  [{ protocol: 'vmess', id: U, security: 'auto' }, [NONE, ...TLS, INSECURE]],
  [{ protocol: 'vmess', id: U, security: 'chacha20-poly1305' }, [NONE, ...TLS]],
  [{ protocol: 'trojan', password: ODD }, [NONE, ...TLS, INSECURE, ...REALITY]],
  [{ protocol: 'shadowsocks', method: 'chacha20-ietf-poly1305', password: ODD }, [NONE, ...TLS, INSECURE]],
  [
    {
      protocol: 'shadowsocks',
      method: '2022-blake3-aes-256-gcm',
      serverKey: 'c2Vy/dmVy+==',
      password: 'Y2xpZW50==',
    },
    [NONE, ...TLS],
  ],
  [
    { protocol: 'shadowsocks', method: '2022-blake3-aes-128-gcm', password: 'AAECAwQFBgcICQoLDA0ODw==' },
    [NONE],
  ],
];
const WIREGUARD = {
  privateKey: 'QGVlb2dXc1ZTWGw0ZXBzZndsWmtMaUM5MUlNYjBHWFdYbz0=',
  publicKey: 'Piehk2n8UewhMHMyJiBS+Sxn/OK0FalyFW1GAGzokHM=',
  address: ['10.0.0.2/32', 'fd00::2/128'],
  preSharedKey: 'psk=',
  keepAlive: 25,
  mtu: 1420,
  dns: '1.1.1.1, 8.8.8.8',
};
const AWG = {
  ...WIREGUARD,
  protocol: 'amneziawg',
  jc: 4,
  jmin: 40,
  jmax: 100,
  s1: 30,
  s2: 90,
  h1: '1',
  h2: '5-10',
  h3: '3',
  h4: '4',
};
const HY_TLS: readonly Security[] = [...TLS, INSECURE];
const OWN: readonly (readonly [Account, readonly Security[], readonly (FinalMask | undefined)[]])[] = [
  [
    { protocol: 'hysteria', auth: ODD },
    HY_TLS,
    [
      undefined,
      { udp: [{ kind: 'salamander', password: ODD }] },
      { udp: [{ kind: 'salamander', password: 'p', packetSize: '512-1200' }] },
      { udpHop: { ports: '20000-50000,60000' } },
    ],
  ],
  [
    { protocol: 'tuic', uuid: U, password: ODD, congestionControl: 'cubic', udpRelayMode: 'quic' },
    [
      { kind: 'tls' },
      { kind: 'tls', serverName: 's.example', alpn: ['h3', 'spdy/3.1'], allowInsecure: true },
    ],
    [undefined],
  ],
  [{ protocol: 'tuic', uuid: U, password: 'p', congestionControl: 'bbr' }, [{ kind: 'tls' }], [undefined]],
  [{ protocol: 'wireguard', ...WIREGUARD }, [NONE], [undefined]],
  [
    { protocol: 'wireguard', ...WIREGUARD, preSharedKey: '', keepAlive: 0, mtu: 0, dns: '' },
    [NONE],
    [undefined],
  ],
  [AWG, [NONE], [undefined]],
  [
    {
      ...AWG,
      s3: 5,
      s4: 27,
      i1: '<b 0xf6ab>',
      headerProtectionKey: 'k=',
      contentPaddingAddition: '1-2',
      rekeyAfterTime: '120',
      rekeyTimeout: '5',
      rejectAfterTime: '180',
      keepaliveTimeout: '10',
      maxHandshakeAttempts: '18',
      randomTrailers: true,
      disableCookies: true,
    },
    [NONE],
    [undefined],
  ],
  [
    { protocol: 'mtproto', secret: 'ee8196fe6ed8b637d001f91d6952cfcdf07777772e636c6f7564666c6172652e636f6d' },
    [NONE],
    [undefined],
  ],
];
const LOGINS: readonly Account[] = [
  { protocol: 'http', user: 'i1.c1', password: ODD },
  { protocol: 'mixed', user: 'i1.c1', password: ODD },
];

const SERVERS = ['203.0.113.1', 'xn--e1afmkfd.example.com', '2001:db8::1'];
const NAMES = ['Server 01', 'Сервер 🇩🇪 1|#%25&?', '', '  DE  ', 'a <b> & "c"'];

/** Every entry has a server, a port and a name that follow from its place. */
export function matrix(): ProxyEntry[] {
  const found: Omit<ProxyEntry, 'name' | 'server' | 'port'>[] = [];
  for (const [account, securities] of FAMILY)
    for (const transport of TRANSPORTS)
      for (const security of securities)
        for (const finalMask of MASKS) {
          // As a plugin of SIP002 the disguise has neither masks nor a path.
          const isPlugin = account.protocol === 'shadowsocks' && transport.kind === 'tcp' && transport.http;
          if (isPlugin && (finalMask || security.kind !== 'none')) continue;
          const said = isPlugin
            ? { kind: 'tcp' as const, http: { ...transport.http, paths: [] } }
            : transport;
          found.push({ account, transport: said as Transport, security, ...(finalMask && { finalMask }) });
        }
  for (const [account, securities, masks] of OWN)
    for (const security of securities)
      for (const finalMask of masks)
        found.push({ account, transport: { kind: 'own' }, security, ...(finalMask && { finalMask }) });
  for (const account of LOGINS) found.push({ account, transport: { kind: 'tcp' }, security: NONE });
  return found.map((entry, i) => ({
    ...entry,
    server: SERVERS[i % SERVERS.length] ?? '',
    port: 1 + ((i * 7919) % 65_535),
    name: entry.account.protocol === 'mtproto' ? '' : (NAMES[i % NAMES.length] ?? ''),
    ...(i % 4 === 0 && WITH_DESCRIPTION.includes(entry.account.protocol) && { description: 'Fast Ünit' }),
  }));
}
/** Links of the others have no fragment. */
const WITH_DESCRIPTION = ['vless', 'trojan', 'shadowsocks', 'hysteria', 'tuic', 'wireguard', 'http', 'mixed'];
