// Post-quantum keys, which Node 20 cannot generate. All are base64url without padding, as the core reads them.
import { randomBytes } from 'node:crypto';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js';

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** A key of ML-DSA-65 (FIPS 204) by which REALITY signs: the 32 bytes of its seed, and the public key. */
export function newMldsa65(): { seed: string; verify: string } {
  const seed = randomBytes(32);
  return { seed: base64url(seed), verify: base64url(ml_dsa65.keygen(seed).publicKey) };
}

/** A key of ML-KEM-768 (FIPS 203): the 64 bytes of its seed, and the encapsulation key of the client. */
export function newMlkem768(): { seed: string; client: string } {
  const seed = randomBytes(64);
  return { seed: base64url(seed), client: base64url(ml_kem768.keygen(seed).publicKey) };
}
