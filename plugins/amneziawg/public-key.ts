// The public half of a key of WireGuard (RFC 7748).
import { createPrivateKey, createPublicKey } from 'node:crypto';

const BYTES = 32;
/** What stands before the bytes of the key in PKCS#8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** @returns hexadecimal; empty for a text that is no private key */
export function publicKeyOf(privateKey: string): string {
  const bytes = Buffer.from(privateKey, 'base64');
  if (bytes.length !== BYTES) return '';
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, bytes]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('hex');
}
