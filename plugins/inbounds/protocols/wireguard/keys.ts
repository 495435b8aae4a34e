// Keys of WireGuard: 32 bytes of X25519 (RFC 7748), or a secret that both sides share. Programs write them as base64;
// the core takes base64url and hexadecimal as well.
import { randomBytes } from 'node:crypto';
import { newX25519, x25519PublicKey } from '../../../keygen/contract.js';

const BYTES = 32;

const [HEX, BASE64] = [/^[\da-f]{64}$/i, /^[\w+/-]{43}=?$/];
/** What `keyOf` takes, for the description of schemas. */
export const KEY_PATTERN = '^(?:[0-9A-Fa-f]{64}|[0-9A-Za-z_+/-]{43}=?)$';

/** Returns the key as base64 with its padding; undefined for a text that is not a key. */
export function keyOf(text: string): string | undefined {
  if (HEX.test(text)) return Buffer.from(text, 'hex').toString('base64');
  // Node reads both alphabets of base64.
  if (!BASE64.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === BYTES ? bytes.toString('base64') : undefined;
}

export const newKeyPair = (): { privateKey: string; publicKey: string } => newX25519('base64');

/** `privateKey` as `keyOf` returns it. */
export const publicKeyOf = (privateKey: string): string =>
  x25519PublicKey(Buffer.from(privateKey, 'base64')).toString('base64');

/** A valid public key to which nobody has the other half. */
export const unusedPublicKey = (): string => randomBytes(BYTES).toString('base64');
