// TLS and REALITY of an outbound. Source: sing-box.sagernet.org, shared, TLS (outbound).
import {
  type EntryTemplate,
  type FieldsByClient,
  type Reality,
  type Tls,
  valueFor,
} from '../inbounds/contract.js';
import type { JsonTemplate } from '../subscription/contract.js';
import type { Minor } from './version.js';

type Security = EntryTemplate['security'];

export interface TlsUse {
  readonly minor: Minor;
  /** over QUIC, where uTLS has no place */
  readonly quic?: boolean;
  /** what the transport speaks, whatever the inbound offers beside it */
  readonly alpn?: readonly string[] | undefined;
  /** The greeting is cut into pieces. */
  readonly fragment?: boolean;
}

const FINGERPRINTS = [
  'chrome',
  'firefox',
  'edge',
  'safari',
  '360',
  'qq',
  'ios',
  'android',
  'randomized',
  'random',
];
/** The core knows single versions of programs too, such as `hellofirefox_120`; an unknown name would break the whole document. */
export function fingerprintOf(name: string): string {
  const lower = name.toLowerCase();
  if (FINGERPRINTS.includes(lower)) return lower;
  return FINGERPRINTS.find((one) => lower.startsWith(one) || lower.startsWith(`hello${one}`)) ?? 'chrome';
}

/** As Go calls those that it offers; an unknown name would break the whole document. */
const CIPHER_SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
];
function cipherSuites({ cipherSuites: names = '' }: Tls): string[] | undefined {
  const known = names.split(':').filter((name) => CIPHER_SUITES.includes(name));
  return known.length > 0 ? known : undefined;
}

/** `name+server`, or the server alone: the config is asked for over DNS. */
const isQuery = (list: string): boolean => list.includes('://');
export const asksForEch = (security: Security): boolean =>
  security.kind === 'tls' && isQuery(security.echConfigList ?? '');

function ech({ echConfigList: list = '' }: Tls, minor: Minor): JsonTemplate {
  if (list === '') return undefined;
  if (!isQuery(list)) {
    const base64 = Buffer.from(list, 'base64').toString('base64');
    return { enabled: true, config: ['-----BEGIN ECH CONFIGS-----', base64, '-----END ECH CONFIGS-----'] };
  }
  const [, name] = /^([^+:/]+)\+/.exec(list) ?? [];
  return { enabled: true, query_server_name: minor >= 13 ? name : undefined };
}

function ofTls(tls: Tls, { minor, quic = false, alpn = tls.alpn, fragment = false }: TlsUse): JsonTemplate {
  const { serverName, fingerprint = '', allowInsecure } = tls;
  return {
    enabled: true,
    server_name: serverName || undefined,
    insecure: allowInsecure || undefined,
    alpn: alpn && alpn.length > 0 ? alpn : undefined,
    cipher_suites: quic ? undefined : cipherSuites(tls),
    utls:
      quic || fingerprint === '' || fingerprint === 'unsafe'
        ? undefined
        : { enabled: true, fingerprint: fingerprintOf(fingerprint) },
    fragment: (fragment && minor >= 12) || undefined,
    ech: ech(tls, minor),
  };
}

function ofReality(reality: FieldsByClient<Reality>, { alpn }: TlsUse): JsonTemplate {
  const { serverName, publicKey, shortId, fingerprint } = reality;
  return {
    enabled: true,
    server_name: ({ client }) => valueFor(serverName, client) || undefined,
    alpn,
    utls: {
      enabled: true,
      fingerprint:
        typeof fingerprint === 'function'
          ? ({ client }) => fingerprintOf(fingerprint(client))
          : fingerprintOf(fingerprint),
    },
    reality: {
      enabled: true,
      public_key: ({ client }) => valueFor(publicKey, client),
      short_id: ({ client }) => valueFor(shortId, client),
    },
  };
}

/** Undefined without TLS. */
export function tlsOf(security: Security, use: TlsUse): JsonTemplate {
  if (security.kind === 'tls') return ofTls(security, use);
  return security.kind === 'reality' ? ofReality(security, use) : undefined;
}

const KEY = /^[\w-]{43}$/;
const WHOLE_BYTES = /^(?:[\da-f]{2}){0,8}$/i;
/** Values that belong to clients; a wrong one would break the whole document. */
export function isKey(publicKey: string, shortId: string): boolean {
  return KEY.test(publicKey) && WHOLE_BYTES.test(shortId);
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
export function cannotTls(security: Security): string | undefined {
  if (security.kind !== 'tls') return undefined;
  const { serverName, verifyPeerCertByName = '', echConfigList = '', pinnedPeerCertSha256 = [] } = security;
  if (pinnedPeerCertSha256.length > 0) return 'sing-box can pin a public key, but not a certificate';
  const names = verifyPeerCertByName.split(',').map((name) => name.trim());
  if (verifyPeerCertByName !== '' && !names.includes(serverName ?? ''))
    return 'sing-box checks a certificate only for the name that it asks for';
  if (echConfigList !== '' && !isQuery(echConfigList) && !BASE64.test(echConfigList))
    return 'the ECH config is not base64';
  return undefined;
}
