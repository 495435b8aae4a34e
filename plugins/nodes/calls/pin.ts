// The SHA-256 of a certificate as people write it: base64, or hex with or without colons.

/** Returns undefined for anything else. */
export function digestOfPin(text: string): Buffer | undefined {
  const plain = text.trim().replace(/^sha256[:/]/i, '');
  const hex = plain.replaceAll(':', '');
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, 'hex');
  const digest = /^[A-Za-z0-9+/_-]{43}=?$/.test(plain) ? Buffer.from(plain, 'base64') : undefined;
  return digest?.length === 32 ? digest : undefined;
}
