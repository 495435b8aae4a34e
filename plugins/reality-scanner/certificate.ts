// The certificates that a server sent.
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { isIP } from 'node:net';
import { hostName } from '../../kernel/index.js';
import { MOST_NAMES } from './scan-result.js';

const LONGEST_NAME = 256;
/** OpenSSL takes at most 100 KiB of certificates, so a chain has far fewer. */
const MOST_CERTIFICATES = 1000;
/** One entry of `subjectAltName`: its kind, and its value, in quotes if it has special characters. */
const ALTERNATIVE_NAME = /([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  /** ISO 8601; blank if the certificate has no valid time */
  readonly notAfter: string;
  /** without wildcards */
  readonly names: readonly string[];
  /** a name that leads to this certificate; undefined if it has none */
  readonly ownName: string | undefined;
  /** of all certificates, in the form in which they were sent */
  readonly chainBytes: number;
  /** undefined if the chain is trusted */
  readonly problem: string | undefined;
  /** Whether it is for this name or address. */
  isFor(host: string): boolean;
}

/** Why a chain is not trusted, by the codes of OpenSSL. */
const PROBLEMS: Readonly<Record<string, string>> = {
  CERT_NOT_YET_VALID: 'it is not valid yet',
  CERT_REVOKED: 'it is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its root is not among the trusted ones',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate of its issuer is missing',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its issuer is not trusted, or the server does not send the certificates between',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its issuer is not trusted, or the server does not send the certificates between',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong',
  INVALID_CA: 'its issuer may not issue certificates',
  INVALID_PURPOSE: 'it is not for servers',
  CERT_CHAIN_TOO_LONG: 'its chain is too long',
};
/** Only the name differs; that is judged by `isFor`. */
const NAME_DIFFERS = /^ERR_TLS_CERT_ALTNAME_/;

/** Reads what the server sent. Call it once: Node hands out the chain a single time. */
export function certificateOf(socket: TLSSocket): Certificate | undefined {
  const leaf = socket.getPeerX509Certificate();
  if (!leaf) return undefined;
  const names = dnsNames(leaf.subjectAltName ?? '');
  const { subject, issuer } = leaf.toLegacyObject() as unknown as {
    subject: Parts | undefined;
    issuer: Parts | undefined;
  };
  const common = first(subject, 'CN');
  const notAfter = timeOf(leaf.validTo);
  // Node: a code, or nothing if the certificate is trusted and for the name.
  const code = String((socket.authorizationError as unknown) ?? '');
  return {
    subject: common || names[0] || '',
    issuer: first(issuer, 'O') || first(issuer, 'CN'),
    notAfter,
    names: names.filter((name) => !name.startsWith('*.')).slice(0, MOST_NAMES),
    ownName: [common, ...names]
      .map((name) => hostName(name))
      .find((name) => name !== undefined && isIP(name) === 0),
    chainBytes: sizeOf(leaf),
    problem: socket.authorized || NAME_DIFFERS.test(code) ? undefined : problemOf(code, notAfter),
    isFor: (host) =>
      (isIP(host) === 0 ? leaf.checkHost(host, { subject: 'never' }) : leaf.checkIP(host)) !== undefined,
  };
}

function problemOf(code: string, notAfter: string): string {
  if (code === 'CERT_HAS_EXPIRED')
    // Another certificate of the chain may be the one that is over.
    return Date.parse(notAfter) < Date.now()
      ? `it expired on ${notAfter.slice(0, 10)}`
      : 'its issuer has expired';
  return PROBLEMS[code] ?? code;
}

type Parts = Readonly<Record<string, string | readonly string[] | undefined>>;
function first(parts: Parts | undefined, name: string): string {
  const value = parts?.[name];
  return String((Array.isArray(value) ? value[0] : value) ?? '').slice(0, LONGEST_NAME);
}

function timeOf(written: string): string {
  const time = new Date(written);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().replace('.000Z', 'Z');
}

/** Names and wildcards, each once, in the order of the certificate. */
function dnsNames(text: string): string[] {
  const found = new Set<string>();
  for (const [, kind, value = ''] of text.matchAll(ALTERNATIVE_NAME)) {
    const wildcard = value.startsWith('*.') ? '*.' : '';
    const name = kind === 'DNS' ? hostName(value.slice(wildcard.length)) : undefined;
    if (name !== undefined && isIP(name) === 0) found.add(wildcard + name);
  }
  return [...found];
}

function sizeOf(leaf: X509Certificate): number {
  let bytes = 0;
  let at: X509Certificate | undefined = leaf;
  for (let i = 0; at && i < MOST_CERTIFICATES; i++) {
    bytes += at.raw.length;
    at = at.issuerCertificate;
  }
  return bytes;
}
