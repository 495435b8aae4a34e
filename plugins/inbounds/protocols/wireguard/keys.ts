// Keys of WireGuard: 32 bytes of X25519 (RFC 7748), or a secret that both sides share. Programs write them as base64;
// the core takes base64url and hexadecimal as well.
import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';

const BYTES = 32;
/** What stands before the bytes of the key in PKCS#8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Returns the key as base64 with its padding; undefined for a text that is not a key. */
export function keyOf(text: string): string | undefined {
  if (/^[\da-f]{64}$/i.test(text)) return Buffer.from(text, 'hex').toString('base64');
  // Node reads both alphabets of base64.
  if (!/^[\w+/-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === BYTES ? bytes.toString('base64') : undefined;
}

const fromUrl = (text: string): string => Buffer.from(text, 'base64url').toString('base64');

export function newKeyPair(): { privateKey: string; publicKey: string } {
  const { d, x } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  return { privateKey: fromUrl(d ?? ''), publicKey: fromUrl(x ?? '') };
}

/** `privateKey` as `keyOf` returns it. */
export function publicKeyOf(privateKey: string): string {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.from(privateKey, 'base64')]),
    format: 'der',
    type: 'pkcs8',
  });
  return fromUrl(createPublicKey(key).export({ format: 'jwk' }).x ?? '');
}

/** A valid public key to which nobody has the other half. */
export const unusedPublicKey = (): string => randomBytes(BYTES).toString('base64');
