// Recipes for a first inbound: what of an inbound each sets, and what it needs.
import type { CertificatesListReply, InboundsAddInput } from '../../../../sdk/index.js';
import { isLoopback } from '../clients/link-host.js';

export const RECIPES = ['reality', 'tls', 'shadowsocks'] as const;
export type Recipe = (typeof RECIPES)[number];
type Body = InboundsAddInput['body'];
type Certificate = CertificatesListReply[number];

/** What is typed at both steps, as texts, and what was made of it; never a key. */
export interface Typed {
  readonly recipe: Recipe;
  readonly address: string;
  readonly port: string;
  readonly target: string;
  readonly email: string;
  readonly quota: string;
  readonly days: string;
  /** of the inbound once it is made; 0 before */
  readonly inboundId: number;
  /** name of the client once it is made; blank before */
  readonly made: string;
}

/** The host of the page, unless it is the end of a tunnel: clients cannot connect to that. */
export const publicHost = (host: string): string => (isLoopback(host) ? '' : host);

export const blankTyped = (host: string, port: number): Typed => ({
  recipe: 'reality',
  address: host,
  port: String(port),
  target: 'www.microsoft.com',
  email: '',
  quota: '',
  days: '',
  inboundId: 0,
  made: '',
});

/** Above those that systems use. */
export const anyPort = (random: number = Math.random()): number => 20_000 + Math.floor(random * 12_000);

/** The certificate that TLS would show; undefined where none is good. */
export const usableOf = (certificates: readonly Certificate[]): Certificate | undefined =>
  certificates.find(({ state, certificateFile }) => state === 'valid' && certificateFile !== '');

export interface Keys {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly shortIds: readonly string[];
  readonly spiderX: string;
}

const SNIFFING = { enabled: true, destOverride: ['http', 'tls', 'quic'] };

const common = ({ recipe, address }: Typed, port: number) => ({
  remark: recipe,
  port,
  sniffing: SNIFFING,
  ...(address.trim() !== '' && { shareAddrStrategy: 'custom', shareAddr: address.trim() }),
});

export function realityBody(typed: Typed, port: number, keys: Keys): Body {
  const target = typed.target.trim();
  const { privateKey, publicKey, shortIds, spiderX } = keys;
  return {
    ...common(typed, port),
    protocol: 'vless',
    settings: { decryption: 'none' },
    streamSettings: {
      network: 'tcp',
      security: 'reality',
      realitySettings: {
        target: `${target}:443`,
        serverNames: [target],
        privateKey,
        shortIds,
        settings: { publicKey, fingerprint: 'chrome', spiderX },
      },
    },
  } as Body;
}

export function tlsBody(typed: Typed, port: number, certificate: Certificate): Body {
  const { names, certificateFile, keyFile } = certificate;
  return {
    ...common(typed, port),
    protocol: 'vless',
    settings: { decryption: 'none' },
    streamSettings: {
      network: 'tcp',
      security: 'tls',
      tlsSettings: {
        // A name with a star is none that a client program can ask for.
        serverName: names.find((name) => !name.startsWith('*')) ?? typed.address.trim(),
        certificates: [{ certificateFile, keyFile }],
      },
    },
  } as Body;
}

/** The panel makes the key. */
export const shadowsocksBody = (typed: Typed, port: number): Body =>
  ({
    ...common(typed, port),
    protocol: 'shadowsocks',
    settings: { method: '2022-blake3-aes-256-gcm', network: 'tcp,udp' },
  }) as Body;

export type InboundField = 'address' | 'port' | 'target';

/** The field of the first step at which an answer of the panel belongs. */
export function fieldOfIssue(path: string): InboundField | undefined {
  if (path === 'port') return 'port';
  if (path.startsWith('shareAddr')) return 'address';
  return /\.(target|serverNames)\b/.test(path) ? 'target' : undefined;
}
/** Codes that say that the port is not free. */
export const isPortTaken = (code: string): boolean => /_PORT_(TAKEN|IN_USE)$/.test(code);
