// Detached signatures in the format of minisign (https://jedisct1.github.io/minisign/#signature-format): Ed25519 over the
// file or over its BLAKE2b-512, and a second signature that covers the first one and a comment.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** What an Ed25519 key begins with as SubjectPublicKeyInfo (RFC 8410). */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 42;
const SIGNATURE_BYTES = 74;
const SECOND_BYTES = 64;
const MOST_KEYS = 8;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A signature file has about 300. */
export const MOST_SIGNATURE = 4_096;

export interface PublicKey {
  /** as minisign shows it: sixteen hexadecimal digits */
  readonly id: string;
  readonly key: KeyObject;
}
export interface Signed {
  /** id of the key */
  readonly key: string;
  /** the signed comment */
  readonly comment: string;
}

/** minisign shows the bytes of a number in reverse. */
export const shownId = (id: Buffer): string => Buffer.from(id).reverse().toString('hex').toUpperCase();

/** Throws where the text is not a public key of minisign. */
export function readPublicKey(text: string): PublicKey {
  const bytes = BASE64.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (bytes.length !== KEY_BYTES || bytes.toString('latin1', 0, 2) !== 'Ed')
    throw new Error(
      'it is not a public key of minisign: 56 characters that begin with RW, the second line of the .pub file',
    );
  return {
    id: shownId(bytes.subarray(2, 10)),
    key: createPublicKey({
      key: Buffer.concat([SPKI, bytes.subarray(10)]),
      format: 'der',
      type: 'spki',
    }),
  };
}

/** Keys with commas or white space between them: a new key is named beside the previous one for a while. Lines of comments, as in a .pub file, are skipped. */
export function readPublicKeys(text: string): PublicKey[] {
  const words = text
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('untrusted comment:'))
    .flatMap((line) => line.split(/[\s,]+/))
    .filter((word) => word !== '');
  if (words.length > MOST_KEYS) throw new Error(`it has more than ${MOST_KEYS} keys`);
  return words.map(readPublicKey);
}

function decoded(line: string | undefined, bytes: number, what: string): Buffer {
  const found = line !== undefined && BASE64.test(line) ? Buffer.from(line, 'base64') : undefined;
  if (found?.length !== bytes) throw new Error(`the signature is damaged: ${what} is missing or too short`);
  return found;
}

/** Throws with the reason where the content is not signed by one of the keys. */
export function verifySignature(content: Uint8Array, signature: string, keys: readonly PublicKey[]): Signed {
  if (signature.length > MOST_SIGNATURE) throw new Error('the signature is too long for one of minisign');
  const [about = '', first, trusted = '', second] = signature.split(/\r?\n/);
  const comment = /^trusted comment: (.*)$/.exec(trusted)?.[1];
  if (!about.startsWith('untrusted comment:') || comment === undefined)
    throw new Error('the signature is not in the format of minisign');
  const bytes = decoded(first, SIGNATURE_BYTES, 'its second line');
  const whole = decoded(second, SECOND_BYTES, 'its last line');
  const kind = bytes.toString('latin1', 0, 2);
  if (kind !== 'Ed' && kind !== 'ED') throw new Error(`the signature has an unknown kind`);
  const id = shownId(bytes.subarray(2, 10));
  const known = keys.find((key) => key.id === id);
  if (!known)
    throw new Error(
      `it is signed with the key ${id}, and the trusted one is ${keys.map((key) => key.id).join(', ') || 'none'}`,
    );
  const signed = kind === 'ED' ? createHash('blake2b512').update(content).digest() : content;
  if (!verify(null, signed, known.key, bytes.subarray(10)))
    throw new Error(`the signature does not match: it was changed, or not signed with the key ${id}`);
  if (!verify(null, Buffer.concat([bytes.subarray(10), Buffer.from(comment)]), known.key, whole))
    throw new Error('the comment of the signature was changed');
  return { key: id, comment };
}
