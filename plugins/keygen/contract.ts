// Key generation for code that creates inbounds and outbounds.
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';

/** Bytes of a key of Shadowsocks 2022, by method (SIP022). */
export const SHADOWSOCKS_KEY_BYTES = {
  '2022-blake3-aes-128-gcm': 16,
  '2022-blake3-aes-256-gcm': 32,
  '2022-blake3-chacha20-poly1305': 32,
} as const;
type Method2022 = keyof typeof SHADOWSOCKS_KEY_BYTES;
export const newShadowsocksKey = (method: Method2022): string =>
  randomBytes(SHADOWSOCKS_KEY_BYTES[method]).toString('base64');

/** What stands before the bytes of the key in PKCS#8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** The public key of an X25519 private key, 32 bytes each (RFC 7748). */
export function x25519PublicKey(privateKey: Uint8Array): Buffer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, privateKey]), format: 'der', type: 'pkcs8' });
  return Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url');
}

/**
 * A pair for X25519: base64url without padding (RFC 4648 section 5), as the core writes keys, or base64, as WireGuard does.
 * Not by generateKeyPairSync: in Node 20, a collection of garbage while such a key is exported stops the process for ever.
 */
export function newX25519(encoding: 'base64url' | 'base64' = 'base64url'): {
  privateKey: string;
  publicKey: string;
} {
  const bytes = randomBytes(32);
  // RFC 7748, section 5: programs keep a key in this form.
  bytes.writeUInt8(bytes.readUInt8(0) & 248, 0);
  bytes.writeUInt8((bytes.readUInt8(31) & 127) | 64, 31);
  return { privateKey: bytes.toString(encoding), publicKey: x25519PublicKey(bytes).toString(encoding) };
}
