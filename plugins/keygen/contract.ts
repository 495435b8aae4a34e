// Key generation for code that creates inbounds.
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

/** What stands before the bytes of the key in PKCS#8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/**
 * An X25519 pair as the core writes keys: base64url without padding (RFC 7748, RFC 4648 section 5). Not by
 * generateKeyPairSync: in Node 20, a collection of garbage while such a key is exported stops the process for ever.
 */
export function newX25519(): { privateKey: string; publicKey: string } {
  const bytes = randomBytes(32);
  // RFC 7748, section 5: programs keep a key in this form.
  bytes.writeUInt8(bytes.readUInt8(0) & 248, 0);
  bytes.writeUInt8((bytes.readUInt8(31) & 127) | 64, 31);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, bytes]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { privateKey: bytes.toString('base64url'), publicKey: x };
}
