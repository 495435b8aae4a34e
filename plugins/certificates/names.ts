// Names that a certificate can have, and URLs that a directory can have.
import { domainToASCII } from 'node:url';
import { canonicalAddress, hostName } from '../../kernel/index.js';
import { errors } from './errors.js';

export const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';
/** Let's Encrypt takes as many. */
export const MOST_NAMES = 100;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the name as certificates have it. Throws NAMES. */
function nameOf(sent: string, path: string): string {
  const shown = JSON.stringify(sent.slice(0, 80));
  const refuse = (why: string) => errors.NAMES(`${path}: ${shown} ${why}`, { path });
  const trimmed = sent.trim().toLowerCase().replace(/\.$/, '');
  if (trimmed.includes('*'))
    throw refuse(
      'has a wildcard, which needs a DNS challenge; name each host, or use a certificate of your own',
    );
  // Without this, `domainToASCII` would drop or decode parts of what was sent.
  const ascii = /^[\p{L}\p{N}\p{M}.-]+$/u.test(trimmed) ? domainToASCII(trimmed) : '';
  // Also 2130706433, which is 127.0.0.1.
  if ([ascii, trimmed.replace(/^\[(.*)\]$/, '$1')].some((text) => canonicalAddress(text) !== undefined))
    throw refuse('is an address; certificates are issued here for host names only');
  if (hostName(ascii) !== ascii || !ascii.split('.').every((label) => LABEL.test(label)))
    throw refuse('is not a host name');
  if (!ascii.includes('.')) throw refuse('is not a full host name, such as vpn.example.com');
  return ascii;
}

/** Returns the names, each once, as they will be in the certificate. Throws NAMES. */
export function namesOf(sent: readonly string[]): readonly string[] {
  return [...new Set(sent.map((name, i) => nameOf(name, `names.${i}`)))];
}

/** Why this cannot be a directory; undefined when it can. */
export function directoryProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:') return 'it must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'it must have no user name or password in it';
  if (url.hash !== '') return 'it must have no # in it';
  return hostName(url.hostname) === undefined ? 'its host is neither a host name nor an address' : undefined;
}
