// TLS and REALITY as keys of a proxy. Source: wiki.metacubex.one, proxies, TLS.
import { type EntryTemplate, type Security, type Tls, valueFor } from '../../inbounds/contract.js';
import type { Hole, Keys, Value } from '../yaml-text.js';

const SHA256_BYTES = 32;
/** The first pin that is a SHA-256, as OpenSSL prints it; mihomo takes one. */
export function pinOf(pins: readonly string[] = []): string | undefined {
  for (const pin of pins) {
    const bare = pin.trim();
    const hex = bare.replaceAll(':', '');
    const bytes = /^[\da-f]{64}$/i.test(hex)
      ? Buffer.from(hex, 'hex')
      : Buffer.from(/^[\w+/-]{43}=?$/.test(bare) ? bare : '', 'base64');
    if (bytes.length === SHA256_BYTES)
      return (bytes.toString('hex').toUpperCase().match(/../g) ?? []).join(':');
  }
  return undefined;
}

const IMITATED = ['chrome', 'firefox', 'safari', 'ios', 'android', 'edge', '360', 'qq', 'random'];
/** The greeting that mihomo imitates; it has no versions of programs, and no `unsafe`. */
export function greetingOf(fingerprint: string | undefined): string | undefined {
  const name = (fingerprint ?? '').toLowerCase().replace(/^hello/, '');
  if (name.startsWith('randomized')) return 'random';
  return IMITATED.find((known) => name === known || name.startsWith(`${known}_`));
}

const ECH_VERSION = 0xfe0d;
const PREFIX_BYTES = 4;
/** A list of ECH configs begins with its own length and the version of the first (RFC 9849, 4). */
function isConfigList(text: string): boolean {
  const bytes = Buffer.from(text, 'base64');
  return (
    /^[A-Za-z0-9+/]+={0,2}$/.test(text) &&
    bytes.length > PREFIX_BYTES &&
    bytes.readUInt16BE(0) === bytes.length - 2 &&
    bytes.readUInt16BE(2) === ECH_VERSION
  );
}
/** `name+server`, or the server alone, says where to ask for the configs; mihomo asks its own servers. */
export function echOf(list: string | undefined): Value {
  if (!list) return undefined;
  if (isConfigList(list)) return { enable: true, config: list };
  const [, name] = /^([^+/:]+)\+\w+:\/\//.exec(list) ?? [];
  return { enable: true, ...(name && { 'query-server-name': name }) };
}

/** Why the configs for ECH cannot be said: mihomo refuses the whole file for one that it cannot read. */
export const cannotEch = ({ echConfigList: list }: Tls): string | undefined =>
  !list || list.includes('://') || isConfigList(list)
    ? undefined
    : 'its list of ECH configs is neither base64 nor the place to ask for it';

/** What all protocols over TLS can say. */
export const trustKeys = (tls: Tls): Readonly<Record<string, Value>> => ({
  alpn: tls.alpn?.length ? tls.alpn : undefined,
  'skip-cert-verify': tls.allowInsecure || undefined,
  fingerprint: pinOf(tls.pinnedPeerCertSha256),
  'name-cert-verify': tls.verifyPeerCertByName?.split(',')[0]?.trim() || undefined,
  'ech-opts': echOf(tls.echConfigList),
});

/** The server's own name where the entry has none: mihomo would take the host of WebSocket. */
const nameHole = (name: string | undefined): Value | Hole => name || (({ server }) => server);

function realityKeys(reality: Extract<EntryTemplate['security'], { kind: 'reality' }>): {
  readonly name: Value | Hole;
  readonly more: Keys;
} {
  const { serverName, shortId, publicKey, fingerprint, x25519mlkem768 } = reality;
  const options = (client: Parameters<typeof valueFor>[1]): Value => ({
    'public-key': valueFor(publicKey, client),
    'short-id': valueFor(shortId, client),
    'support-x25519mlkem768': x25519mlkem768 === true || undefined,
  });
  const isFixed = typeof publicKey !== 'function' && typeof shortId !== 'function';
  return {
    name: typeof serverName === 'function' ? ({ client }) => serverName(client) : serverName,
    more: {
      'reality-opts': isFixed ? options({} as never) : ({ client }) => options(client),
      // mihomo needs one.
      'client-fingerprint':
        typeof fingerprint === 'function'
          ? ({ client }) => greetingOf(fingerprint(client)) ?? 'chrome'
          : (greetingOf(fingerprint) ?? 'chrome'),
    },
  };
}

/** `nameKey`: VMess and VLESS have another name for SNI than the others. */
export function securityKeys(security: EntryTemplate['security'], nameKey: 'servername' | 'sni'): Keys {
  if (security.kind === 'none') return { tls: false };
  if (security.kind === 'reality') {
    const { name, more } = realityKeys(security);
    return { tls: true, [nameKey]: name, ...more };
  }
  return {
    tls: true,
    [nameKey]: nameHole(security.serverName),
    ...trustKeys(security),
    'client-fingerprint': greetingOf(security.fingerprint),
  };
}

/** Of a way that has no values of clients. */
export function fixedSecurity(security: Security, server: string): Readonly<Record<string, Value>> {
  const keys = securityKeys(security, 'servername');
  return Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [
      key,
      typeof value === 'function' ? server : (value as Value),
    ]),
  );
}
