// TLS under a transport. Settings: xtls.github.io, TLSObject. What the client's side needs beside it stands in `settings`,
// which the core never sees.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import {
  annotate,
  bool,
  int,
  type Issue,
  list,
  messageOf,
  optional,
  shape,
  text,
} from '../../../kernel/index.js';
import type { Tls } from '../entry/security.js';
import { advanced, forClients, maybe, section, words as wordsOrText } from '../form.js';
import { echKeys } from '../generators.js';
import { objectOf, oneWord, type Settings, textOf, textsOf, words } from './transport.js';

const pem = () => list(text());
const certificate = shape({
  ...section('Certificate', {
    certificateFile: optional(text()).description('path of the certificate with its chain (PEM)'),
    keyFile: optional(text()).description('path of its key (PEM)'),
    certificate: optional(pem()).description('the certificate itself, line by line, in place of a file'),
    key: annotate(optional(pem()), { secret: true }).description('its key, line by line, in place of a file'),
  }),
  ...advanced('Certificate', {
    usage: maybe(text().example('encipherment').example('verify').example('issue')),
    ocspStapling: annotate(maybe(int().min(0)), { unit: 'seconds' }).description(
      'between two looks whether the certificate is revoked; 0: never',
    ),
    oneTimeLoading: maybe(bool()).description('files are read once, not again each hour'),
    buildChain: maybe(bool()).description('a certificate that issues others sends its own as well'),
  }),
}).unknown(true);
/** What the core never sees. */
const client = shape(
  forClients('Clients', {
    fingerprint: annotate(maybe(text().example('chrome').example('firefox').example('randomized')), {
      initial: 'chrome',
    }).description('program whose greeting clients imitate'),
    echConfigList: maybe(text()).description('configs of Encrypted Client Hello, base64'),
    pinnedPeerCertSha256: maybe(wordsOrText()).description('SHA-256 of certificates that clients accept'),
    verifyPeerCertByName: maybe(text()).description('name that the certificate must have'),
  }),
).unknown(true);

const NO_CERTIFICATE =
  '{{#label}}: TLS needs a certificate: give certificateFile and keyFile, or certificate and key';
const certificates = list(certificate)
  .min(1)
  .messages({ 'any.required': NO_CERTIFICATE, 'array.min': NO_CERTIFICATE });

export const TlsSettings = shape({
  ...section('TLS', {
    serverName: optional(oneWord('serverName')).description('name of the server in the certificate'),
    alpn: optional(words()).description('protocols that are offered, such as h2 and http/1.1'),
    certificates,
  }),
  ...advanced('TLS', {
    minVersion: maybe(text().example('1.2').example('1.3')),
    maxVersion: maybe(text().example('1.3')),
    cipherSuites: maybe(text()).description('names with colons between them, for TLS 1.2'),
    curvePreferences: maybe(wordsOrText()).description('key exchanges, the preferred one first'),
    rejectUnknownSni: maybe(bool()).description('refuses clients that name a server without a certificate'),
    disableSystemRoot: maybe(bool()).description('trusts only certificates that are given here'),
    enableSessionResumption: maybe(bool()),
    echServerKeys: annotate(maybe(text()), { secret: true, generator: echKeys }).description(
      'keys of Encrypted Client Hello, base64',
    ),
    echForceQuery: maybe(text().example('none').example('half').example('full')),
  }),
  ...forClients('TLS', { settings: optional(client).description('for clients; the core never sees it') }),
}).unknown(true);

/** A list, or one text with commas. */
const pinsIn = (value: unknown): string[] =>
  textsOf(typeof value === 'string' ? value.split(',').map((pin) => pin.trim()) : value);

/** What the client's side must know: of the core's own settings, and of those in `settings`. */
export function tlsEntry(tls: Settings): Tls {
  const client = objectOf(tls['settings']);
  const alpn = textsOf(tls['alpn']);
  const pins = pinsIn(client['pinnedPeerCertSha256']);
  const names = textOf(client['verifyPeerCertByName']).trim();
  const ech = textOf(client['echConfigList']);
  return {
    kind: 'tls',
    ...(typeof tls['serverName'] === 'string' && { serverName: tls['serverName'] }),
    ...(alpn.length > 0 && { alpn }),
    ...(typeof client['fingerprint'] === 'string' && { fingerprint: client['fingerprint'] }),
    ...(ech && { echConfigList: ech }),
    ...(names && { verifyPeerCertByName: names }),
    ...(pins.length > 0 && { pinnedPeerCertSha256: pins }),
  };
}

const linesOf = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : '');

/** Reads a file that a certificate or a key is in. */
export type ReadFile = (path: string) => Promise<string>;

function leafOf(certificate: string): X509Certificate | undefined {
  try {
    return new X509Certificate(certificate);
  } catch {
    return undefined;
  }
}

async function pairProblem(pair: Settings, readFile: ReadFile | undefined): Promise<string | undefined> {
  // A file takes precedence over the text beside it, as in the core.
  const read = async (inline: string, file: string): Promise<string> =>
    textOf(pair[file]) && readFile ? readFile(textOf(pair[file])) : linesOf(pair[inline]);
  if (!readFile && (textOf(pair['certificateFile']) || textOf(pair['keyFile']))) return undefined;
  const certificate = await read('certificate', 'certificateFile');
  const key = await read('key', 'keyFile');
  if (!certificate || !key) return 'it needs certificateFile and keyFile, or certificate and key';
  // The core prints keys of its own generator under a label that OpenSSL takes at its word.
  const readable = key.includes('RSA PRIVATE KEY')
    ? [
        key,
        key.replaceAll('RSA PRIVATE KEY', 'PRIVATE KEY'),
        key.replaceAll('RSA PRIVATE KEY', 'EC PRIVATE KEY'),
      ]
    : [key];
  const leaf = leafOf(certificate);
  if (!leaf)
    return 'the certificate cannot be read: it must be in PEM, with -----BEGIN CERTIFICATE----- first';
  for (const [i, candidate] of readable.entries()) {
    try {
      return leaf.checkPrivateKey(createPrivateKey(candidate))
        ? undefined
        : 'the key does not belong to the certificate';
    } catch {
      if (i === readable.length - 1)
        return 'the key cannot be read: it must be in PEM, without a passphrase, with a line like -----BEGIN PRIVATE KEY----- first';
    }
  }
  return undefined;
}

/** Checks a certificate: the core would start with a broken one and then fail every handshake. */
export async function certificateIssues(tls: Settings, readFile: ReadFile | undefined): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const [i, entry] of (tls['certificates'] as Settings[]).entries()) {
    const path = `streamSettings.tlsSettings.certificates.${i}`;
    // For verifying others; it has no key.
    if (entry['usage'] === 'verify') continue;
    const problem = await pairProblem(entry, readFile).catch((error: unknown) => messageOf(error));
    if (problem) issues.push({ path, message: `${path}: ${problem}` });
  }
  return issues;
}
