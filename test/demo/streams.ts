// All transports of an inbound, on loopback, with a certificate of the core, and a site whose handshake REALITY borrows.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';

export const NAME = 'site.weir.example';

export interface Site {
  /** `streamSettings` by name, e.g. `ws tls` */
  readonly streams: ReadonlyMap<string, Record<string, unknown>>;
  /** `streamSettings` of hysteria, which no other protocol can have */
  readonly hysteria: Record<string, unknown>;
  /** lets the panel accept REALITY with this site */
  readonly env: Record<string, string>;
  readonly parts: SiteParts;
  stop(): Promise<void>;
}

const TRANSPORTS: readonly (readonly [name: string, settings: Record<string, unknown>])[] = [
  ['tcp', {}],
  ['ws', { wsSettings: { path: '/ws', host: NAME } }],
  ['grpc', { grpcSettings: { serviceName: 'weir' } }],
  ['httpupgrade', { httpupgradeSettings: { path: '/upgrade', host: NAME } }],
  ['xhttp', { xhttpSettings: { path: '/xhttp', host: NAME } }],
];

/** As the core writes it: lines. */
export interface Pem {
  readonly certificate: string[];
  readonly key: string[];
}
/** What the streams of a site are made of. */
export interface SiteParts {
  readonly pem: Pem;
  readonly realityKey: string;
  /** of the site */
  readonly port: number;
  /** of the certificate, for clients who do not trust it otherwise */
  readonly pins?: readonly string[];
}

/** Opens a TLS server on loopback that REALITY can borrow its handshake from. */
export async function openSite(binary: string): Promise<Site> {
  const run = promisify(execFile);
  const pem = JSON.parse((await run(binary, ['tls', 'cert', '-domain', NAME])).stdout) as Pem;
  const keys = (await run(binary, ['x25519'])).stdout;
  const privateKey = /^PrivateKey: (\S+)$/m.exec(keys)?.[1] ?? '';
  const cert = pem.certificate.join('\n');
  // The core calls a PKCS #8 key by an older name.
  const server = createServer(
    {
      cert,
      key: pem.key.join('\n').replaceAll('RSA PRIVATE KEY', 'PRIVATE KEY'),
      ALPNProtocols: ['h2', 'http/1.1'],
    },
    (socket) => socket.on('error', () => socket.destroy()),
  )
    .on('tlsClientError', () => undefined)
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const pin = new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();
  const parts = { pem, realityKey: privateKey, port, pins: [pin] };
  return {
    ...streamsOf(parts),
    parts,
    env: { WEIR_FALLBACK_DESTINATIONS: `127.0.0.1:${port}` },
    async stop() {
      server.close();
      await once(server, 'close');
    },
  };
}

/** Streams by name, and that of hysteria. */
export function streamsOf({ pem, realityKey, port, pins }: SiteParts): Pick<Site, 'streams' | 'hysteria'> {
  const tls = (alpn: string[]) => ({
    security: 'tls',
    tlsSettings: {
      serverName: NAME,
      alpn,
      certificates: [pem],
      settings: { fingerprint: 'chrome', ...(pins && { pinnedPeerCertSha256: pins }) },
    },
  });
  const reality = {
    security: 'reality',
    realitySettings: {
      target: `127.0.0.1:${port}`,
      serverNames: [NAME],
      privateKey: realityKey,
      shortIds: ['0123abcd', 'ab'],
      settings: { fingerprint: 'chrome', spiderX: '/' },
    },
  };
  const streams = new Map<string, Record<string, unknown>>();
  for (const [network, settings] of TRANSPORTS) {
    streams.set(network, { network, ...settings });
    streams.set(`${network} tls`, {
      network,
      ...settings,
      ...tls(network === 'grpc' ? ['h2'] : network === 'xhttp' ? ['h2', 'http/1.1'] : ['http/1.1']),
    });
    if (['tcp', 'grpc', 'xhttp'].includes(network))
      streams.set(`${network} reality`, { network, ...settings, ...reality });
  }
  streams.set('tcp http', {
    network: 'tcp',
    tcpSettings: { header: { type: 'http', request: { path: ['/'], headers: { Host: [NAME] } } } },
  });
  // Without a disguise, and with one that both sides must have.
  streams.set('kcp', { network: 'kcp', kcpSettings: { mtu: 1350, tti: 20 } });
  streams.set('kcp masked', {
    network: 'kcp',
    finalmask: {
      udp: [{ type: 'header-wechat' }, { type: 'mkcp-aes128gcm', settings: { password: 'mask' } }],
    },
  });
  return { streams, hysteria: { network: 'hysteria', ...tls(['h3']) } };
}
