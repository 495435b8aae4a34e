// Key pairs of WireGuard: X25519 (RFC 7748), as base64.
import { newX25519, x25519PublicKey } from '../keygen/contract.js';

export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

export const newKeyPair = (): KeyPair => newX25519('base64');

/** `privateKey` is 32 bytes in base64. */
export const publicKeyOf = (privateKey: string): string =>
  x25519PublicKey(Buffer.from(privateKey, 'base64')).toString('base64');
