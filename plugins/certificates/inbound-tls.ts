// The certificates in the TLS settings of an inbound.
import { isDeepStrictEqual } from 'node:util';
import type { Inbound } from '../inbounds/contract.js';
import type { CertificatePaths } from './contract.js';

type Entry = Readonly<Record<string, unknown>>;

function tlsOf({ streamSettings }: Inbound): Entry | undefined {
  const { security, tlsSettings } = streamSettings as Record<string, unknown>;
  return security === 'tls' && typeof tlsSettings === 'object' && tlsSettings !== null
    ? (tlsSettings as Entry)
    : undefined;
}

/** Undefined for an inbound without TLS. */
export function certificatesOf(inbound: Inbound): readonly Entry[] | undefined {
  const list = tlsOf(inbound)?.['certificates'];
  return Array.isArray(list) ? (list as Entry[]) : undefined;
}

/** Entries that the inbound shows to those who connect, and not those that verify or sign others. */
const isShown = ({ usage }: Entry): boolean => usage === undefined || usage === 'encipherment';

/**
 * Returns the stream settings with this certificate as the first that is shown; undefined when it is already. Other entries,
 * such as those for other names, and other keys of the entry stay. The core reads the files again by itself: the entry must not say `oneTimeLoading`.
 */
export function withCertificate(
  inbound: Inbound,
  { certificate, key }: CertificatePaths,
): Record<string, unknown> | undefined {
  const entries = certificatesOf(inbound);
  if (!entries) throw new Error('it has no TLS any more; change the uses of the certificate');
  const at = entries.findIndex(isShown);
  const { certificate: _text, key: _key, oneTimeLoading: _once, ...rest } = entries[at] ?? {};
  const own = { ...rest, certificateFile: certificate, keyFile: key };
  const certificates = at === -1 ? [own, ...entries] : entries.with(at, own);
  if (isDeepStrictEqual(certificates, entries)) return undefined;
  return { ...inbound.streamSettings, tlsSettings: { ...tlsOf(inbound), certificates } };
}
