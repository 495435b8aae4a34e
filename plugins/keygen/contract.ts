// Key generation for code that creates inbounds.
import { generateKeyPairSync } from 'node:crypto';

/** An X25519 pair as the core writes keys: base64url without padding (RFC 7748, RFC 4648 section 5). */
export function newX25519(): { privateKey: string; publicKey: string } {
  const { privateKey } = generateKeyPairSync('x25519');
  const { d, x } = privateKey.export({ format: 'jwk' }) as { d: string; x: string };
  return { privateKey: d, publicKey: x };
}
