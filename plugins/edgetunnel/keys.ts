// Key pairs of WireGuard: X25519 (RFC 7748), as base64.
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** What stands before the bytes of the key in PKCS#8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const fromUrl = (text: string): string => Buffer.from(text, 'base64url').toString('base64');

/**
 * Not by generateKeyPairSync: in Node 20, a collection of garbage while such a key is exported locks the key for a second
 * time, and the process stands still for ever.
 */
export function newKeyPair(): KeyPair {
  const bytes = randomBytes(32);
  // RFC 7748, section 5: programs keep a key in this form.
  bytes.writeUInt8(bytes.readUInt8(0) & 248, 0);
  bytes.writeUInt8((bytes.readUInt8(31) & 127) | 64, 31);
  const privateKey = bytes.toString('base64');
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

/** `privateKey` is 32 bytes in base64. */
export function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.from(privateKey, 'base64')]),
    format: 'der',
    type: 'pkcs8',
  });
  return fromUrl(createPublicKey(key).export({ format: 'jwk' }).x ?? '');
}
