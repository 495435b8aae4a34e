// The public half of a key of WireGuard.
import { x25519PublicKey } from '../keygen/contract.js';

const BYTES = 32;

/** @returns hexadecimal; empty for a text that is no private key */
export function publicKeyOf(privateKey: string): string {
  const bytes = Buffer.from(privateKey, 'base64');
  return bytes.length === BYTES ? x25519PublicKey(bytes).toString('hex') : '';
}
