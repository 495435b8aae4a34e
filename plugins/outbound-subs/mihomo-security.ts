// TLS and REALITY in the words of mihomo. Source: wiki.metacubex.one, proxies, TLS.
import type { Security } from '../inbounds/contract.js';
import type { Fields } from './entry-fields.js';

/** What a proxy says that is always under TLS. */
export function tlsSecurity(fields: Fields, nameKeys: readonly string[]): Security {
  const serverName = nameKeys.map((key) => fields.text(key)).find((name) => name !== '') ?? '';
  const fingerprint = fields.text('client-fingerprint');
  const reality = fields.inside('reality-opts');
  const alpn = fields.texts('alpn');
  const pin = fields.text('fingerprint');
  const byName = fields.text('name-cert-verify');
  const ech = fields.inside('ech-opts');
  const allowInsecure = fields.flag('skip-cert-verify');
  if (reality)
    return {
      kind: 'reality',
      serverName,
      publicKey: reality.required('public-key'),
      shortId: reality.text('short-id'),
      fingerprint: fingerprint || 'chrome',
      spiderX: '',
      ...(reality.flag('support-x25519mlkem768') && { x25519mlkem768: true }),
    };
  return {
    kind: 'tls',
    ...(serverName !== '' && { serverName }),
    ...(alpn.length > 0 && { alpn }),
    ...(fingerprint !== '' && { fingerprint }),
    ...(pin !== '' && { pinnedPeerCertSha256: [pin] }),
    ...(byName !== '' && { verifyPeerCertByName: byName }),
    ...(ech?.flag('enable') && { echConfigList: echOf(ech) }),
    ...(allowInsecure && { allowInsecure }),
  };
}

function echOf(ech: Fields): string {
  const config = ech.text('config');
  if (config === '') throw ech.fault('config', 'only ECH with its configs in the document can be read');
  return config;
}

/** `always`: TLS has no key that switches it on. */
export function securityOf(fields: Fields, nameKeys: readonly string[], always = false): Security {
  const isOn = fields.flag('tls');
  if (isOn || always) return tlsSecurity(fields, nameKeys);
  fields.ignore(...nameKeys, 'alpn', 'client-fingerprint', 'fingerprint', 'skip-cert-verify');
  return { kind: 'none' };
}
