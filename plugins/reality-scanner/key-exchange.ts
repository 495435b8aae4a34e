// The key exchanges that a handshake offers, and the one that the server chose.
import { createSecureContext, type TLSSocket } from 'node:tls';

const HYBRID = 'X25519MLKEM768';
const CLASSIC = ['X25519', 'P-256', 'P-384', 'P-521'];

/** OpenSSL has X25519MLKEM768 since 3.5, which Node 20 does not use. */
export const hasHybrid = isKnown(HYBRID);
const X25519 = hasHybrid ? [HYBRID, 'X25519'] : ['X25519'];

/** The two that REALITY can use. */
export const ONLY_X25519 = X25519.join(':');
/** With others, to find out why a server refuses the two. In TLS 1.2, certificates of P-256 need it too. */
export const WITH_OTHERS = [...new Set([...X25519, ...CLASSIC])].join(':');

function isKnown(group: string): boolean {
  try {
    createSecureContext({ ecdhCurve: group, ca: [] });
    return true;
  } catch {
    return false;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

/** Returns `X25519`, `P-256` and so on; blank for an exchange without a curve. */
export function keyExchangeOf(socket: TLSSocket): string {
  const { name } = (socket.getEphemeralKeyInfo() ?? {}) as { name?: string };
  if (name !== undefined) return NAMES[name] ?? name;
  // TLS 1.3 always has one. Node 22 has a name for each but the hybrid one.
  return hasHybrid && socket.getProtocol() === 'TLSv1.3' ? HYBRID : '';
}

export const isX25519 = (keyExchange: string): boolean => [HYBRID, 'X25519'].includes(keyExchange);

/** Why a server may have refused all of them. */
export const REFUSED_ALL = `the TLS handshake failed: the server accepts none of ${WITH_OTHERS.replaceAll(':', ', ')}, or none of the ciphers${
  hasHybrid
    ? ''
    : `; it may accept ${HYBRID} only, which the TLS of Node ${process.versions.node} does not have`
}`;
