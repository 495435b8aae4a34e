// Encrypts and decrypts files in the format of age (age-encryption.org/v1), piece by piece. Both take a processor for
// seconds: call them in a thread or a process of their own.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Who can decrypt a file: one of the two. */
export interface Encryption {
  /** public keys, `age1…` */
  readonly recipients: readonly string[];
  /** blank: none */
  readonly passphrase: string;
}
/** What decrypts a file: each is tried. */
export interface Decryption {
  /** lines of identity files; `AGE-SECRET-KEY-…`, comments and blank lines */
  readonly identities: readonly string[];
  /** blank: none */
  readonly passphrase: string;
}
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

export const NO_DECRYPTION: Decryption = { identities: [], passphrase: '' };
const BEGINNING = 'age-encryption.org/v1\n';
/** A header has less than 2 KiB for each recipient. */
const MOST_HEADER = 256 * 1024;
const MOST_IDENTITIES = 100;
const PIECE = 256 * 1024;

/** Whether the file begins as an encrypted one does. */
export async function isEncrypted(path: string): Promise<boolean> {
  return (await beginningOf(path, BEGINNING.length)) === BEGINNING;
}

async function beginningOf(path: string, length: number): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

const piecesOf = (path: string): ReadableStream<Uint8Array> =>
  Readable.toWeb(createReadStream(path, { highWaterMark: PIECE })) as unknown as ReadableStream<Uint8Array>;

/** Resolves when the new file is on the disk. */
async function write(pieces: AsyncIterable<Uint8Array>, to: string): Promise<WrittenFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(to, 'wx', 0o600);
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten;
      hash.update(piece);
      bytes += piece.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Why this is not a public key of age; undefined if it is one. */
export async function recipientProblem(recipient: string): Promise<string | undefined> {
  if (/^AGE-SECRET-KEY-/i.test(recipient))
    return 'it is a secret key; enter the public key, which begins with age1';
  if (/^ssh-/.test(recipient)) return 'keys of SSH are not supported; create one with age-keygen';
  const { Encrypter } = await import('age-encryption');
  try {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    await encrypter.encrypt(new Uint8Array(1));
    return undefined;
  } catch {
    return 'it is not a public key of age, like age1…; age-keygen prints one';
  }
}

/** Writes an encrypted copy to a new file. */
export async function encryptFile(
  from: string,
  to: string,
  { recipients, passphrase }: Encryption,
): Promise<WrittenFile> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if (passphrase !== '') encrypter.setPassphrase(passphrase);
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  if (passphrase === '' && recipients.length === 0) throw new Error('there is nobody to encrypt it for');
  const encrypted = await encrypter.encrypt(piecesOf(from));
  return write(encrypted as unknown as AsyncIterable<Uint8Array>, to);
}

/** Why the lines have no usable identity; undefined if they have one. The lines themselves are never repeated. */
export async function identityProblem(lines: readonly string[]): Promise<string | undefined> {
  const given = identitiesIn(lines);
  if (given.length === 0) return 'it has no line that begins with AGE-SECRET-KEY-';
  if (given.length > MOST_IDENTITIES) return `it has more than ${MOST_IDENTITIES} identities`;
  const { Decrypter } = await import('age-encryption');
  for (const [i, identity] of given.entries())
    try {
      new Decrypter().addIdentity(identity);
    } catch {
      return `its identity number ${i + 1} is not valid`;
    }
  return undefined;
}

const identitiesIn = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));

function sentenceFor(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/no identity matched/.test(message))
    return 'neither the identity nor the passphrase opens it; it was encrypted for another';
  if (/work factor/.test(message)) return 'its passphrase takes too much work to check (above 2^20)';
  if (/ENOSPC|EDQUOT|EIO|EACCES/.test(message)) return message;
  return 'it is damaged or incomplete: its content does not match its seal';
}

/** Writes the content to a new file. Rejects with a sentence, and the file may then hold a part of it. */
export async function decryptFile(
  from: string,
  to: string,
  { identities, passphrase }: Decryption,
): Promise<WrittenFile> {
  const given = identitiesIn(identities);
  if (given.length === 0 && passphrase === '')
    throw new Error('it is encrypted; an identity or a passphrase is needed to restore it');
  if (given.length > 0) {
    const problem = await identityProblem(given);
    if (problem !== undefined) throw new Error(`the identity cannot be used: ${problem}`);
  }
  if (!/\n--- [\w+/]+\n/.test(await beginningOf(from, MOST_HEADER)))
    throw new Error('it is damaged or incomplete: its header has no end');
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  for (const identity of given) decrypter.addIdentity(identity);
  if (passphrase !== '') decrypter.addPassphrase(passphrase);
  try {
    const content = await decrypter.decrypt(piecesOf(from));
    return await write(content as unknown as AsyncIterable<Uint8Array>, to);
  } catch (cause) {
    throw new Error(sentenceFor(cause), { cause });
  }
}
