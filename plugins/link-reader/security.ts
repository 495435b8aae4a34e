// TLS and REALITY of a link. Source: XTLS/Xray-core discussion 716.
import type { Security, Tls } from '../inbounds/contract.js';
import { LinkError } from './link-error.js';
import type { Parameters } from './parameters.js';
import { isTrue, itemsOf } from './text.js';

export function tlsIn(parameters: Parameters, pins = itemsOf(parameters.base64('pcs', 'pinSHA256'))): Tls {
  const alpn = itemsOf(parameters.get('alpn'));
  const fingerprint = parameters.get('fp');
  const ech = parameters.base64('ech');
  const names = parameters.get('vcn');
  const insecure = parameters.get('allowInsecure', 'insecure', 'allow_insecure', 'skip-cert-verify');
  return {
    kind: 'tls',
    ...((parameters.has('sni') || parameters.has('peer')) && { serverName: parameters.get('sni', 'peer') }),
    ...(alpn.length > 0 && { alpn }),
    ...(parameters.has('fp') && { fingerprint }),
    ...(ech && { echConfigList: ech }),
    ...(names && { verifyPeerCertByName: names }),
    ...(pins.length > 0 && { pinnedPeerCertSha256: pins }),
    ...(isTrue(insecure) && { allowInsecure: true }),
  };
}

function realityIn(parameters: Parameters): Security {
  const publicKey = parameters.base64('pbk');
  if (publicKey === '') throw new LinkError('pbk', 'it has no public key (pbk), which REALITY needs');
  const shortId = parameters.get('sid');
  if (!/^[\da-f]{0,16}$/i.test(shortId))
    throw new LinkError('sid', 'its short id (sid) is not up to 16 hexadecimal digits');
  const verify = parameters.get('pqv');
  return {
    kind: 'reality',
    serverName: parameters.get('sni', 'peer'),
    shortId,
    publicKey,
    fingerprint: parameters.get('fp') || 'chrome',
    spiderX: parameters.get('spx'),
    ...(verify && { mldsa65Verify: verify }),
  };
}

/** `otherwise`: where the link does not say. */
export function securityIn(parameters: Parameters, otherwise: 'none' | 'tls'): Security {
  switch (parameters.get('security').toLowerCase() || otherwise) {
    case 'none':
      return { kind: 'none' };
    case 'tls':
      return tlsIn(parameters);
    case 'reality':
      return realityIn(parameters);
    default:
      throw new LinkError('security', 'its security is unknown; it may be none, tls or reality');
  }
}
