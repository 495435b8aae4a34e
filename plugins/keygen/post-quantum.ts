// Post-quantum keys, which Node 20 cannot generate. All are base64url without padding, as the core reads them. The library
// is loaded when it is needed: it takes 4 MiB of memory.
import { randomBytes } from 'node:crypto';

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** A key of ML-DSA-65 (FIPS 204) by which REALITY signs: the 32 bytes of its seed, and the public key. */
export async function newMldsa65(): Promise<{ seed: string; verify: string }> {
  const { ml_dsa65 } = await import('@noble/post-quantum/ml-dsa.js');
  const seed = randomBytes(32);
  return { seed: base64url(seed), verify: base64url(ml_dsa65.keygen(seed).publicKey) };
}

/** A key of ML-KEM-768 (FIPS 203): the 64 bytes of its seed, and the encapsulation key of the client. */
export async function newMlkem768(): Promise<{ seed: string; client: string }> {
  const { ml_kem768 } = await import('@noble/post-quantum/ml-kem.js');
  const seed = randomBytes(64);
  return { seed: base64url(seed), client: base64url(ml_kem768.keygen(seed).publicKey) };
}
