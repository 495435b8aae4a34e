// Proves that what an authority sent is the certificate that was ordered, before anything uses it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { CaProblem } from './ca-problem.js';

const MOST_CERTIFICATES = 10;
const MOST_CHARACTERS = 256 * 1024;
/** Clocks differ; authorities date certificates back. */
const CLOCK_SKEW_MS = 3_600_000;
const BLOCK = /-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----/g;

export interface CheckedChain {
  /** PEM, the leaf first */
  readonly chain: string;
  readonly issuer: string;
  readonly serial: string;
  /** Unix ms */
  readonly validFrom: number;
  readonly validTo: number;
}
interface Ordered {
  readonly names: readonly string[];
  /** PEM */
  readonly key: string;
}

const refuse = (why: string): CaProblem =>
  new CaProblem(`the authority sent a certificate that cannot be used: ${why}`);

/** Name of an issuer for display: its common name, or all of it. */
const issuerOf = ({ issuer }: X509Certificate): string =>
  (/^CN=(.*)$/m.exec(issuer)?.[1] ?? issuer.replaceAll('\n', ', ')).slice(0, 200);

function blocksOf(text: string): X509Certificate[] {
  if (text.length > MOST_CHARACTERS) throw refuse(`it has more than ${MOST_CHARACTERS / 1024} KiB`);
  const blocks = text.match(BLOCK) ?? [];
  // Anything else, such as a private key, has no place in the file.
  if (blocks.length === 0 || text.replaceAll(BLOCK, '').trim() !== '')
    throw refuse('it is not a chain of certificates in PEM');
  if (blocks.length > MOST_CERTIFICATES) throw refuse(`its chain has ${blocks.length} certificates`);
  return blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw refuse(`certificate ${i + 1} of its chain is not valid PEM`);
    }
  });
}

/** Says what a stored certificate is, whether it is still valid or not. Throws a CaProblem for one that is not for these names and this key. */
export function readChain(text: string, { names, key }: Ordered): CheckedChain {
  const chain = blocksOf(text);
  const [leaf] = chain;
  if (!leaf) throw refuse('it is empty');
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw refuse('it is for another key');
  const missing = names.find((name) => leaf.checkHost(name, { subject: 'never' }) === undefined);
  if (missing !== undefined) throw refuse(`it is not for ${missing}`);
  for (const [i, certificate] of chain.entries()) {
    const above = chain[i + 1];
    if (above && !(certificate.checkIssued(above) && certificate.verify(above.publicKey)))
      throw refuse(`certificate ${i + 2} of its chain did not sign the one before it`);
  }
  return {
    chain: chain.map(String).join(''),
    issuer: issuerOf(leaf),
    serial: leaf.serialNumber.toLowerCase(),
    validFrom: Date.parse(leaf.validFrom),
    validTo: Date.parse(leaf.validTo),
  };
}

/** Like `readChain`, for one that is new: it must be valid now. */
export function checkChain(text: string, ordered: Ordered, now: number): CheckedChain {
  const checked = readChain(text, ordered);
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
  if (checked.validTo <= now) throw refuse(`it expired at ${day(checked.validTo)}`);
  if (checked.validFrom > now + CLOCK_SKEW_MS)
    throw refuse(`it is not valid before ${day(checked.validFrom)}; check the clock of this machine`);
  return checked;
}
