// Keys of WireGuard: 32 bytes of X25519 (RFC 7748), or a secret that both sides share. Programs write them as base64;
// the core takes base64url and hexadecimal as well.
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

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

/**
 * Not by generateKeyPairSync: in Node 20, a collection of garbage while such a key is exported locks the key for a second
 * time, and the process stands still for ever.
 */
export function newKeyPair(): { privateKey: string; publicKey: string } {
  const bytes = randomBytes(32);
  // RFC 7748, section 5: programs keep a key in this form.
  bytes.writeUInt8(bytes.readUInt8(0) & 248, 0);
  bytes.writeUInt8((bytes.readUInt8(31) & 127) | 64, 31);
  const privateKey = bytes.toString('base64');
  return { privateKey, publicKey: publicKeyOf(privateKey) };
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
