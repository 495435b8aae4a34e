// What opens an encrypted backup, as callers send it.
import { kernelErrors, optional, text } from '../../kernel/index.js';
import { type Decryption, identityProblem } from './encryption/age-file.js';

const MOST_IDENTITY = 32_768;

export const decryptionFields = () => ({
  identity: optional(
    text()
      .max(MOST_IDENTITY)
      .description(
        'content of an identity file of age, with AGE-SECRET-KEY-…, for a backup that is encrypted',
      ),
  ),
  passphrase: optional(
    text()
      .max(1_024)
      .description('for a backup that is encrypted with a passphrase other than that of the panel'),
  ),
});

/** Rejects with a 400 that names the field; an identity is never repeated. */
export async function decryptionOf({
  identity = '',
  passphrase = '',
}: {
  identity?: string | undefined;
  passphrase?: string | undefined;
}): Promise<Decryption> {
  if (identity.trim() === '') return { identities: [], passphrase };
  const identities = identity.split(/\r?\n/);
  const problem = await identityProblem(identities);
  if (problem !== undefined)
    throw kernelErrors.INVALID(`identity cannot be used: ${problem}`, { path: 'identity' });
  return { identities, passphrase };
}
