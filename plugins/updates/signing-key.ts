// Signs an index of releases, for those who publish: with an Ed25519 key in PEM, or one that `minisign -G -W` has made.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';

/** What an Ed25519 key begins with in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const MINISIGN_BYTES = 158;
const KDF_NONE = '\0\0';
const ID_AT = 54;
const SEED_AT = 62;

export interface SigningKey {
  readonly id: Buffer;
  readonly key: KeyObject;
  /** for the setting `updateKey`: a public key of minisign */
  readonly publicText: string;
}

function signingKey(key: KeyObject, id?: Buffer): SigningKey {
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  // PEM has no id.
  const own = id ?? createHash('sha256').update(raw).digest().subarray(0, 8);
  return { key, id: own, publicText: Buffer.concat([Buffer.from('Ed'), own, raw]).toString('base64') };
}

/** A new key, as PEM. */
export const newSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

/** Throws where the text is neither PEM of an Ed25519 key nor a key of minisign without a password. */
export function readSigningKey(text: string): SigningKey {
  if (text.includes('-----BEGIN')) {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType !== 'ed25519')
      throw new Error(`the key is of the kind ${key.asymmetricKeyType}; it must be ed25519`);
    return signingKey(key);
  }
  const bytes = Buffer.from(text.split(/\r?\n/)[1] ?? '', 'base64');
  if (bytes.length !== MINISIGN_BYTES || bytes.toString('latin1', 0, 2) !== 'Ed')
    throw new Error('it is neither a private key in PEM nor a secret key of minisign');
  if (bytes.toString('latin1', 2, 4) !== KDF_NONE)
    throw new Error('the key of minisign has a password: sign with `minisign -Sm releases.json` yourself');
  const seed = bytes.subarray(SEED_AT, SEED_AT + 32);
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  return signingKey(key, Buffer.from(bytes.subarray(ID_AT, ID_AT + 8)));
}

/** Returns the text of a `.minisig` file. */
export function signatureOf(content: Uint8Array, { id, key }: SigningKey, comment: string): string {
  if (/[\r\n]/.test(comment)) throw new Error('the comment of a signature is one line');
  const first = sign(null, createHash('blake2b512').update(content).digest(), key);
  const second = sign(null, Buffer.concat([first, Buffer.from(comment)]), key);
  const line = Buffer.concat([Buffer.from('ED'), id, first]).toString('base64');
  return `untrusted comment: signature of releases of Weir\n${line}\ntrusted comment: ${comment}\n${second.toString('base64')}\n`;
}
