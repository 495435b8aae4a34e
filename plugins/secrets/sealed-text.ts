// Encrypts a secret: AES-256-GCM (NIST SP 800-38D) with a random nonce of 96 bits. The text names its key, and
// is bound to its place: it cannot be opened in another row, column or plugin.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Begins every sealed text. No JSON begins with it, so a column can hold both during the change to sealed text. */
export const PREFIX = 'weir1:';
const FORM = /^weir1:([0-9a-f]{16}):([\w-]{38,})$/;
export const MOST_BYTES = 64 * 1024;

export interface Key {
  /** 16 hexadecimal digits that are derived from the key and do not reveal it */
  readonly id: string;
  /** the form of the key file and `WEIR_SECRET_KEY`: 32 bytes in base64 */
  readonly text: string;
  readonly cipherKey: Buffer;
}

const derived = (bytes: Buffer, purpose: string, length: number): Buffer =>
  Buffer.from(hkdfSync('sha256', bytes, '', purpose, length));

/** Returns undefined for text that is not 32 bytes in base64 (RFC 4648, 4). Id and cipher key are derived with HKDF (RFC 5869), each with its own purpose. */
export function keyOf(text: string): Key | undefined {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  // The last digit has two unused bits, so four texts would be the same key.
  if (bytes.toString('base64') !== text) return undefined;
  return {
    id: derived(bytes, 'weir secrets: key id', 8).toString('hex'),
    text,
    cipherKey: derived(bytes, 'weir secrets: sealed text', 32),
  };
}

export const newKey = (): Key => keyOf(randomBytes(32).toString('base64')) as Key;

/** The place of a sealed text. */
export interface Place {
  readonly plugin: string;
  readonly table: string;
  readonly column: string;
  /** of the row */
  readonly key: string;
}
/** JSON is unambiguous: no two places have the same text. */
const bound = (id: string, { plugin, table, column, key }: Place): Buffer =>
  Buffer.from(JSON.stringify([PREFIX, id, plugin, table, column, key]));

export const isSealed = (text: string): boolean => text.startsWith(PREFIX);
export const keyIdOf = (sealed: string): string | undefined => FORM.exec(sealed)?.[1];

export function seal(key: Key, text: string, place: Place): string {
  const plain = Buffer.from(text);
  if (plain.length > MOST_BYTES)
    throw new Error(`a secret may have ${MOST_BYTES} bytes, this one has ${plain.length}`);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key.cipherKey, nonce).setAAD(bound(key.id, place));
  const packed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return `${PREFIX}${key.id}:${packed.toString('base64url')}`;
}

/** Returns undefined if the text was changed, belongs to another place or was sealed with another key. */
export function unseal(key: Key, sealed: string, place: Place): string | undefined {
  const [, id = '', text = ''] = FORM.exec(sealed) ?? [];
  const packed = Buffer.from(text, 'base64url');
  if (id !== key.id || packed.toString('base64url') !== text) return undefined;
  const tag = packed.subarray(packed.length - TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key.cipherKey, packed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(bound(id, place)).setAuthTag(tag);
  const plain = decipher.update(packed.subarray(NONCE_BYTES, packed.length - TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]).toString();
  } catch {
    return undefined;
  }
}
