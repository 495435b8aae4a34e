// Bodies that inbounds/add takes, for tests that need an inbound of each protocol.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Bodies of inbounds, one for each protocol that a panel has. */
export async function inboundBodies(folder: string, certificate: { cert: string; key: string }) {
  const [certificateFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  await writeFile(certificateFile, certificate.cert);
  await writeFile(keyFile, certificate.key);
  const tls = {
    security: 'tls',
    tlsSettings: {
      serverName: 'a.example',
      certificates: [
        { certificate: certificate.cert.trim().split('\n'), key: certificate.key.trim().split('\n') },
      ],
    },
  };
  return [
    { protocol: 'vless', streamSettings: { network: 'ws', ...tls, wsSettings: { path: '/p' } } },
    {
      protocol: 'vless',
      disableFlow: true,
      subSortIndex: 3,
      total: 5_000_000,
      trafficReset: 'monthly',
      trafficResetDay: 9,
    },
    { protocol: 'vmess', sniffing: { enabled: true, destOverride: ['tls'] } },
    { protocol: 'trojan', streamSettings: { network: 'tcp', ...tls } },
    { protocol: 'shadowsocks', settings: { method: '2022-blake3-aes-256-gcm', network: 'tcp,udp' } },
    { protocol: 'shadowsocks', settings: { method: 'aes-256-gcm', network: 'tcp' } },
    { protocol: 'hysteria', settings: { version: 2 }, streamSettings: { network: 'hysteria', ...tls } },
    { protocol: 'http' },
    { protocol: 'mixed', settings: { udp: true, ip: '127.0.0.1' } },
    { protocol: 'wireguard' },
    { protocol: 'amneziawg' },
    { protocol: 'mtproto', settings: { fakeTlsDomain: 'www.example.com' } },
    { protocol: 'tunnel', settings: { rewriteAddress: '192.0.2.1', rewritePort: 80, allowedNetwork: 'tcp' } },
  ] as const;
}
export const TAKES_NO_CLIENTS = ['tunnel'];
