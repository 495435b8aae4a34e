import { hysteria } from '../../inbounds/protocols/hysteria.js';
import { shadowsocks } from '../../inbounds/protocols/shadowsocks.js';
import { trojan } from '../../inbounds/protocols/trojan.js';
import { tuic } from '../../inbounds/protocols/tuic.js';
import { vless } from '../../inbounds/protocols/vless.js';
import { vmess } from '../../inbounds/protocols/vmess.js';
import { readerWith } from '../../link-reader/test/reader.js';

import {
  inboundOf,
  through,
  linkOf,
  tls,
  reality,
  CHROME,
  AT,
  char,
  plainTls,
  entry,
  VLESS,
  fixture,
  wsFixture,
  uid,
  WG,
  own,
  AWG,
  wsBase,
  xhttp,
  ssAccount,
  hy,
  numbered,
} from './golden-world.js';

/** By number: the links. */
export const CASES: Readonly<Record<string, () => readonly string[]>> = {
  G1: () => [
    linkOf(
      through(inboundOf(vless, AT, char), {
        address: 'cdn1.example.com',
        port: 8443,
        security: 'tls',
        sni: 'sni1.example.com',
        fingerprint: 'firefox',
        alpn: ['h3', 'h2'],
        pinnedPeerCertSha256: ['UElO'],
      }),
      'char-R1-user',
    ),
  ],
  G2: () => [
    linkOf(
      through(inboundOf(vless, AT, char), { address: 'cdn2.example.com', port: 80, security: 'none' }),
      'char-R2-user',
    ),
  ],
  G3: () => [
    linkOf(
      through(inboundOf(vmess, AT, char), {
        address: 'vm1.example.com',
        port: 8443,
        sni: 'sni1.example.com',
      }),
      'char-V1-user',
    ),
  ],
  G4: () => [
    linkOf(
      through(inboundOf(vmess, AT, char), { address: 'vm2.example.com', port: 80, security: 'none' }),
      'char-V2-user',
    ),
  ],
  G5: () => [
    linkOf(
      through(inboundOf(trojan, AT, plainTls), {
        address: 'tj.example.com',
        port: 8443,
        security: 'tls',
        sni: 'tj.sni',
      }),
      'char-TJ-user',
      { password: 'p@ss/w+rd=' },
    ),
  ],
  G6: () => [
    linkOf(
      through(
        entry(ssAccount, { security: { kind: 'tls', serverName: 'base.sni', fingerprint: 'chrome' } }),
        {
          address: 'ss.example.com',
          port: 8443,
          security: 'tls',
          sni: 'ss.sni',
        },
      ),
      'char-SS-user',
    ),
  ],
  G7: () =>
    (
      [
        [{ address: 'a.example.com', port: 8443, security: 'tls', sni: 'a.sni' }, 'ib-A-user'],
        [{ address: 'b.example.com', port: 80, security: 'none' }, 'ib-B-user'],
      ] as const
    ).map(([host, name]) =>
      linkOf(
        through(
          entry(uid('vless'), { security: { kind: 'tls', serverName: 'base.sni', fingerprint: 'chrome' } }),
          host,
        ),
        name,
        // The case has no encryption, which the standard demands.
      ).replace('encryption=none&', ''),
    ),
  ...Object.fromEntries(
    (
      [
        ['G8', { address: 'a.example.com', port: 8443, sni: 'a.sni' }, 'ib-A-user'],
        ['G9', { address: 'b.example.com', port: 80, security: 'none' }, 'ib-B-user'],
      ] as const
    ).map(([number, host, name]) => [
      number,
      () => [
        linkOf(
          through(
            entry(uid('vmess'), {
              security: { kind: 'tls', serverName: 'base.sni', alpn: ['h2'], fingerprint: 'chrome' },
            }),
            host,
          ),
          name,
        ),
      ],
    ]),
  ),
  G12: () => [
    linkOf(
      through(
        inboundOf(
          vless,
          AT,
          reality('reality.example.com', 'ab12cd', {
            publicKey: 'PBKvalue',
            fingerprint: 'firefox',
            spiderX: '',
          }),
        ),
        { address: 'cdn.example.com', port: 2053 },
      ),
      'char-RS-user',
    ),
  ],
  G13: () => [
    linkOf(
      through(inboundOf(hysteria, AT, hy(tls('hy.sni', CHROME, ['h3']))), {
        address: 'hop.example.com',
        port: 9443,
        pinnedPeerCertSha256: [`${'A'.repeat(43)}=`],
      }),
      'char-H1-user',
    ),
  ],
  G14: () => [linkOf(wsFixture(), 'alice-vless-ws-tls-alice@example.test', { uuid: fixture })],
  G15: () => [linkOf(wsFixture([`${'A'.repeat(43)}=`, `${'B'.repeat(43)}=`]), 'alice', { uuid: fixture })],
  G16: () => [
    linkOf(
      inboundOf(
        vless,
        'example.test:443',
        reality('yahoo.com', 'a3f1', { publicKey: 'Tx5yj1bRcOPHkdvT2pIAQ2zh0gQ8m4OPdnzqXJxxV3o' }),
      ),
      'dave',
      {
        uuid: '22222222-3333-4444-9555-666666666666',
        subId: 'vless-reality-001',
        flow: 'xtls-rprx-vision',
      },
    ),
  ],
  G17: () => [
    linkOf(
      inboundOf(trojan, 'example.test:443', {
        network: 'ws',
        wsSettings: { path: '/trojan', host: 'trojan.example.test' },
        ...tls('trojan.example.test', CHROME, ['h2', 'http/1.1']),
      }),
      'eve',
      { password: 'trojan-test-pw-XYZ' },
    ),
  ],
  G18: () => [
    linkOf(
      entry(
        {
          ...ssAccount,
          serverKey: 'ZmFrZS1zZXJ2ZXItcGFzc3dvcmQtMDAwMQ==',
          password: 'dGVzdC1jbGllbnQtcGFzc3dvcmQtMQ==',
        },
        { server: 'example.test', port: 8388 },
      ),
      'frank',
    ),
  ],
  G19: () => [
    linkOf(
      inboundOf(shadowsocks, '203.0.113.1:8388', { network: 'tcp' }, { method: 'chacha20-ietf-poly1305' }),
      'ss-user',
      { password: 's3cret' },
    ),
  ],
  G20: () => [
    linkOf(
      entry(ssAccount, { port: 38_143, transport: { kind: 'tcp', http: { host: 'test', paths: ['/'] } } }),
      'ss-user',
    ),
  ],
  G21: () => [
    linkOf(
      inboundOf(vmess, 'example.test:8443', {
        network: 'ws',
        wsSettings: { path: '/vm', host: 'h.example.test' },
        ...tls('s.example.test', CHROME, ['h2', 'http/1.1']),
      }),
      'vm-user',
    ),
  ],
  G22: () => [
    linkOf(
      inboundOf(vmess, '203.0.113.1:2083', {
        network: 'grpc',
        grpcSettings: { serviceName: 'svc', multiMode: true },
      }),
      'g-user',
    ),
  ],
  G23: () => [linkOf(inboundOf(vmess, '203.0.113.1:80', { network: 'tcp' }), 't-user')],
  G24: () => [linkOf(inboundOf(vmess, AT, { ...xhttp, ...tls('x.example.com') }), 'x-user')],
  G25: () => [
    linkOf(
      inboundOf(vless, AT, {
        ...reality('r.example.com', 'ab12', {}),
        network: 'grpc',
        grpcSettings: { serviceName: 'svc', multiMode: true },
      }),
      'g-user',
    ),
  ],
  G26: () => [linkOf(inboundOf(vless, AT, { ...xhttp, ...tls('x.example.com', CHROME) }), 'x-user')],
  G28: () => [
    linkOf(
      entry(VLESS, {
        port: 5000,
        transport: { kind: 'kcp', header: 'wechat-video', seed: 's', mtu: 1350, tti: 50 },
      }),
      'k-user',
    ),
  ],
  G29: () => [
    linkOf(
      inboundOf(vless, '203.0.113.1:80', {
        network: 'tcp',
        tcpSettings: {
          header: { type: 'http', request: { path: ['/'], headers: { Host: ['h.example.com'] } } },
        },
      }),
      't-user',
    ),
  ],
  G30: () => [
    linkOf(
      inboundOf(vless, '203.0.113.1:80', { network: 'httpupgrade', httpupgradeSettings: { path: '/hu' } }),
      'hu-user',
    ),
  ],
  G31: () => [
    linkOf(
      inboundOf(vless, AT, {
        network: 'tcp',
        finalmask: {
          tcp: [{ type: 'fragment', settings: { packets: 'tlshello', length: '100-200', delay: '10-20' } }],
        },
      }),
      'fm-user',
    ),
  ],
  G32: () => [
    linkOf(
      inboundOf(hysteria, 'example.test:36715', hy(tls('hysteria.example.test', CHROME, ['h3']))),
      'gina',
      { auth: 'hyst-v1-auth-XYZ' },
    ),
  ],
  G33: () => [
    linkOf(
      inboundOf(
        hysteria,
        AT,
        hy({
          ...tls('hy.sni', CHROME, ['h3']),
          finalmask: {
            udp: [{ type: 'salamander', settings: { password: 'obfs-secret' } }],
            quicParams: { udpHop: { ports: '20000-50000' } },
          },
        }),
      ),
      'hy2-user',
    ),
  ],
  G35: () => [linkOf(entry(WG, { ...own, server: 'wg.example.test', port: 51_820 }), 'wg-user')],
  G36: () => [
    linkOf(
      entry(
        {
          protocol: 'mtproto',
          secret: 'ee8196fe6ed8b637d001f91d6952cfcdf07777772e636c6f7564666c6172652e636f6d',
        },
        { ...own, server: '203.0.113.7', port: 8443 },
      ),
      'none',
    ),
  ],
  ...Object.fromEntries(
    (
      [
        ['G37', {}],
        [
          'G38',
          { congestion_control: 'cubic', alpn: ['h3'], sni: 'tuic.example.com', udp_relay_mode: 'quic' },
        ],
      ] as const
    ).map(([number, server]) => [
      number,
      () => [
        linkOf(inboundOf(tuic, '198.51.100.1:8443', {}, { server }), 'tuic-test-user@test', {
          uuid: '11111111-1111-1111-1111-111111111111',
          password: 'testpassword',
        }),
      ],
    ]),
  ),
  G39: () => [linkOf(entry(AWG, { ...own, server: '203.0.113.7', port: 51_820 }), 'awg-user')],
  G40: () => [linkOf(inboundOf(vless, '[2001:db8::1]:443', {}), 'v6-user')],
  ...Object.fromEntries(
    (
      [
        [
          'G41',
          { address: 'a.cdn.com', port: 2096, sni: 'a.sni', hostHeader: 'a.host', path: '/a' },
          '4432',
          'n-A-n@e',
        ],
        ['G42', { address: 'ai.cdn.com', port: 8443, allowInsecure: true }, '4450', 'ai-AI-ai@e'],
        ['G44', { address: 'a.cdn.com', port: 8443, vlessRoute: '443' }, '4500', 'vr-A-vr@e'],
      ] as const
    ).map(([number, host, id, name]) => [
      number,
      // These cases have no encryption, which the standard demands.
      () => [linkOf(through(wsBase, host), name, numbered(id)).replace('encryption=none&', '')],
    ]),
  ),
  G43: () => [
    linkOf(
      through(inboundOf(vless, AT, reality('r.example.com', 'abcd', { spiderX: '' })), {
        address: 'rl.cdn.com',
        port: 8443,
        sni: 'host.reality.com',
        fingerprint: 'firefox',
      }),
      'rl-RL-rl@e',
      { ...numbered('4490'), subId: 's1' },
    ).replace('encryption=none&', ''),
  ],
  G45: () => [
    linkOf(
      through(
        inboundOf(vless, AT, {
          network: 'ws',
          wsSettings: { path: '/p', host: 'h' },
          ...tls('base.sni', { echConfigList: 'ECH' }),
        }),
        { address: 'plain.example.com', port: 80, security: 'none' },
      ),
      'in-R-user',
    ),
  ],
  G46: () => [
    linkOf(inboundOf(trojan, AT, reality('r.example.com', 'ab', {})), 'tr-user', {
      flow: 'xtls-rprx-vision',
    }),
  ],
  ...Object.fromEntries(
    (
      [
        ['G49', 'Server 01', 'Fast Server'],
        ['G50', 'Fast? Server', undefined],
        ['G51', 'Node 1?serverDescription=not-base64!!!', undefined],
      ] as const
    ).map(([number, name, description]) => [
      number,
      () => [
        linkOf(
          entry({ ...VLESS, id: 'user' }, { server: 'host', ...(description && { description }) }),
          name,
        ).replace(/\?encryption.*?#/, '#'),
      ],
    ]),
  ),
  G54: () => [readerWith().renamed('trojan://pw@1.2.3.4:8443?security=tls', 'DE-Node')],
};
