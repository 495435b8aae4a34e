// The app's format of an encrypted link, `crypt5`: ChaCha20-Poly1305 with a key of its own for every link, and that key
// encrypted with RSA for the app. The exchanges of bytes hide nothing; the app expects them.
import {
  constants,
  createCipheriv,
  type KeyLike,
  publicEncrypt,
  randomBytes as freshBytes,
  randomInt,
} from 'node:crypto';

export const SCHEME = 'happ://crypt5/';
const [BEGIN, END] = ['vdfz', 'foff'];
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LETTERS_AND_DIGITS = `${LETTERS}0123456789`;
const TAG_BYTES = 16;

const word = (length: number, of: string): string =>
  Array.from({ length }, () => of[randomInt(of.length)]).join('');
/** Base64, whose length is even, with each two characters exchanged. */
const inPairs = (bytes: Buffer): string => bytes.toString('base64').replaceAll(/(.)(.)/g, '$2$1');
/** Exchanges the halves of each four characters; up to three at the end stay. */
const inBlocks = (text: string): string => text.replaceAll(/(..)(..)/g, '$2$1');

/** Returns the link that opens `source` in the app; another one at every call. */
export function encryptedLink(source: string, publicKey: KeyLike): string {
  const key = freshBytes(32);
  const nonce = word(12, LETTERS_AND_DIGITS);
  const salt = word(8, LETTERS_AND_DIGITS);
  const cipher = createCipheriv('chacha20-poly1305', key, Buffer.from(nonce), { authTagLength: TAG_BYTES });
  const text = Buffer.concat([cipher.update(inPairs(Buffer.from(source))), cipher.final()]);
  const sealed = Buffer.concat([text, cipher.getAuthTag()]).toString('base64');
  const salted = key.map((byte, i) => byte ^ salt.charCodeAt(i % salt.length));
  const wrapped = publicEncrypt(
    { key: publicKey, padding: constants.RSA_PKCS1_PADDING },
    Buffer.from(inPairs(Buffer.from(salted))),
  );
  const body = `${nonce}${word(2, LETTERS)}${salt}${sealed.length}V${sealed}${wrapped.toString('base64')}`;
  return `${SCHEME}${inBlocks(`${BEGIN}${body}${END}`)}`;
}
