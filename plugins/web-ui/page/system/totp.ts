// The secret that an authenticator shares with the panel (RFC 6238), as it reads it.
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** 32 characters of base32, five random bits each: 20 bytes. */
export const newSecret = (random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string =>
  [...random(new Uint8Array(32))].map((byte) => ALPHABET[byte % 32]).join('');

export const enrolment = (secret: string, name: string, host: string): string =>
  `otpauth://totp/${encodeURIComponent(`Weir:${name}@${host}`)}?secret=${secret}&issuer=Weir`;
