// Every protocol over every transport and security that an inbound can have: the rows of docs/formats.md.
import { randomBytes } from 'node:crypto';
import { newX25519 } from '../../plugins/keygen/contract.js';
import { NAME, type SiteParts, streamsOf } from '../demo/streams.js';

export interface Way {
  readonly protocol: string;
  readonly transport: string;
  readonly security: string;
  /** fields of the inbound, without its port */
  readonly inbound: Readonly<Record<string, unknown>>;
  /** fields of the client */
  readonly client?: Readonly<Record<string, unknown>>;
  /** The core has no program that serves it: it is written, and nobody can connect. */
  readonly isServed: boolean;
  /** The core counts its bytes by client. */
  readonly isCounted: boolean;
}
/** Headers of AmneziaWG 2.0, as a new inbound has them; before, a header was a number. */
export const RANGES = 'amneziawg, headers in ranges';
const NUMBERS = { jc: 4, jmin: 40, jmax: 70, s1: 20, s2: 30, h1: 11, h2: 12, h3: 13, h4: 14 };

export const nameOf = ({ protocol, transport, security }: Way): string =>
  [protocol, transport, security].join(', ');

type Settings = Readonly<Record<string, unknown>>;
/** Protocols that take every transport, each with what its inbound needs. */
const COMMON: readonly (readonly [name: string, protocol: string, settings: () => Settings])[] = [
  ['vless', 'vless', () => ({ decryption: 'none' })],
  ['vmess', 'vmess', () => ({})],
  ['trojan', 'trojan', () => ({})],
  ['shadowsocks', 'shadowsocks', () => ({ method: 'chacha20-ietf-poly1305', network: 'tcp,udp' })],
  [
    'shadowsocks 2022',
    'shadowsocks',
    () => ({
      method: '2022-blake3-aes-256-gcm',
      password: randomBytes(32).toString('base64'),
      network: 'tcp,udp',
    }),
  ],
];
const VISION = { flow: 'xtls-rprx-vision' };

function encrypted(): Settings {
  const { privateKey, publicKey } = newX25519();
  return {
    decryption: `mlkem768x25519plus.native.600s.${privateKey}`,
    encryption: `mlkem768x25519plus.native.0rtt.${publicKey}`,
  };
}

/** `ws tls` is the transport ws with the security tls; `tcp http` a transport of two words. */
function partsOf(stream: string): { transport: string; security: string } {
  const [, transport = '', security = 'none'] = /^(.+?)(?: (tls|reality))?$/.exec(stream) ?? [];
  return { transport, security };
}

/** All ways, of a site whose certificate the client programs trust. */
export function everyWay(site: SiteParts): Way[] {
  const { pins, ...trusted } = site;
  const { streams, hysteria } = streamsOf(trusted);
  const pinned = streamsOf({ ...trusted, ...(pins && { pins }) });
  const usual = { isServed: true, isCounted: true };
  const over = (name: string) => ({ ...partsOf(name), streamSettings: streams.get(name) });
  const common = COMMON.flatMap(([name, protocol, settings]) => [
    ...[...streams.keys()].map((stream): Way => {
      const { streamSettings, ...parts } = over(stream);
      return {
        ...usual,
        protocol: name,
        ...parts,
        inbound: { protocol, settings: settings(), streamSettings },
      };
    }),
    {
      ...usual,
      protocol: name,
      transport: 'tcp',
      security: 'tls, pinned',
      inbound: { protocol, settings: settings(), streamSettings: pinned.streams.get('tcp tls') },
    },
  ]);
  const vision = ['tcp tls', 'tcp reality'].map((stream): Way => {
    const { streamSettings, ...parts } = over(stream);
    const inbound = { protocol: 'vless', settings: { decryption: 'none' }, streamSettings };
    return { ...usual, protocol: 'vless with Vision', ...parts, inbound, client: VISION };
  });
  const logins = ['http', 'mixed'].flatMap((protocol) =>
    ['tcp', 'tcp tls', 'ws tls'].map((stream): Way => {
      const { streamSettings, ...parts } = over(stream);
      return { ...usual, protocol, ...parts, inbound: { protocol, streamSettings } };
    }),
  );
  const own = (name: string, protocol: string, more: Partial<Way>, fields: Settings = {}): Way => ({
    ...usual,
    protocol: name,
    transport: 'its own',
    security: 'its own',
    ...more,
    inbound: { protocol, ...fields },
  });
  const masked = { finalmask: { udp: [{ type: 'salamander', settings: { password: 'mask' } }] } };
  const unserved = { isServed: false, isCounted: false };
  return [
    ...common.slice(0, streams.size + 1),
    ...vision,
    {
      ...usual,
      protocol: 'vless with its own encryption',
      ...partsOf('tcp'),
      inbound: { protocol: 'vless', settings: encrypted(), streamSettings: streams.get('tcp') },
    },
    ...common.slice(streams.size + 1),
    ...logins,
    own('hysteria 2', 'hysteria', { security: 'tls' }, { streamSettings: hysteria }),
    own(
      'hysteria 2, masked',
      'hysteria',
      { security: 'tls' },
      { streamSettings: { ...hysteria, ...masked } },
    ),
    // The core has no name for a peer.
    own('wireguard', 'wireguard', { isCounted: false }, { settings: { mtu: 1400 } }),
    own('mtproto', 'mtproto', unserved),
    own('tuic', 'tuic', unserved, {
      settings: { server: { sni: NAME, private_key: site.pem.key.join('\n') } },
    }),
    own('amneziawg', 'amneziawg', unserved, { settings: { server: NUMBERS } }),
    own(RANGES, 'amneziawg', unserved),
  ];
}
