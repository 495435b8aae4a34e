// Key pairs of WireGuard: X25519 (RFC 7748), as base64.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';

export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** What stands before the bytes of the key in PKCS#8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const fromUrl = (text: string): string => Buffer.from(text, 'base64url').toString('base64');

export function newKeyPair(): KeyPair {
  const { d, x } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return { privateKey: fromUrl(d ?? ''), publicKey: fromUrl(x ?? '') };
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
