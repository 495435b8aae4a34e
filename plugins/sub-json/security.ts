// TLS and REALITY in the form of the core's config. Source: xtls.github.io, TLSObject and RealityObject.
import type { ByClient, EntryTemplate, FieldsByClient, Reality, Tls } from '../inbounds/contract.js';
import { valueFor } from '../inbounds/contract.js';
import type { JsonTemplate } from '../subscription/contract.js';

const SHA256_BYTES = 32;
/** In hexadecimal, as the core reads it; undefined for what is no SHA-256. */
export function pinInHex(pin: string): string | undefined {
  const bare = pin.trim();
  const hex = bare.replaceAll(':', '').toLowerCase();
  if (/^[\da-f]{64}$/.test(hex)) return hex;
  // Node reads both alphabets of base64.
  const bytes = /^[\w+/-]{43}=?$/.test(bare) ? Buffer.from(bare, 'base64') : Buffer.alloc(0);
  return bytes.length === SHA256_BYTES ? bytes.toString('hex') : undefined;
}

const given = (key: string, value: string | undefined): Readonly<Record<string, string>> =>
  value === undefined || value === '' ? {} : { [key]: value };

/** `allowInsecure` has no place: the core has refused it since June 2026. With a pin it is not needed. */
const tlsSettings = (tls: Tls): JsonTemplate => ({
  ...given('serverName', tls.serverName),
  ...(tls.alpn && tls.alpn.length > 0 && { alpn: tls.alpn }),
  ...given('fingerprint', tls.fingerprint),
  ...given('echConfigList', tls.echConfigList),
  ...given('verifyPeerCertByName', tls.verifyPeerCertByName),
  ...given('pinnedPeerCertSha256', tls.pinnedPeerCertSha256?.flatMap((pin) => pinInHex(pin) ?? []).join(',')),
  ...given('cipherSuites', tls.cipherSuites),
});

const realitySettings = (reality: FieldsByClient<Reality>): JsonTemplate => {
  const { serverName, shortId, publicKey, fingerprint, spiderX, mldsa65Verify } = reality;
  const field = (value: ByClient<string | undefined>): JsonTemplate =>
    typeof value === 'function' ? ({ client }) => valueFor(value, client) : value;
  return {
    show: false,
    publicKey: field(publicKey),
    fingerprint: field(fingerprint),
    ...(mldsa65Verify !== undefined && { mldsa65Verify: field(mldsa65Verify) }),
    serverName: field(serverName),
    shortId: field(shortId),
    spiderX: field(spiderX),
  };
};

export function securityOf(security: EntryTemplate['security']): Readonly<Record<string, JsonTemplate>> {
  switch (security.kind) {
    case 'none':
      return { security: 'none' };
    case 'tls':
      return { security: 'tls', tlsSettings: tlsSettings(security) };
    case 'reality':
      return { security: 'reality', realitySettings: realitySettings(security) };
  }
}
