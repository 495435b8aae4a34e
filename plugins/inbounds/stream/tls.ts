// TLS under a transport. Settings: xtls.github.io, TLSObject. What the client's side needs beside it stands in `settings`,
// which the core never sees.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type Issue, list, messageOf, openObject, optional, shape, text } from '../../../kernel/index.js';
import type { Tls } from '../entry/security.js';
import { objectOf, oneWord, type Settings, textOf, textsOf, words } from './transport.js';

const pem = () => list(text());
export const TlsSettings = shape({
  serverName: optional(oneWord('serverName')),
  alpn: optional(words()),
  certificates: list(
    shape({
      certificateFile: optional(text()),
      keyFile: optional(text()),
      certificate: optional(pem()),
      key: optional(pem()),
    }).unknown(true),
  )
    .min(1)
    .messages({
      'any.required':
        '{{#label}}: TLS needs a certificate: give certificateFile and keyFile, or certificate and key',
      'array.min':
        '{{#label}}: TLS needs a certificate: give certificateFile and keyFile, or certificate and key',
    }),
  settings: optional(openObject()),
}).unknown(true);

/** What the client's side must know: of the core's own settings, and of those in `settings`. */
export function tlsEntry(tls: Settings): Tls {
  const client = objectOf(tls['settings']);
  const alpn = textsOf(tls['alpn']);
  const pins = textsOf(client['pinnedPeerCertSha256']);
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
