// The file `secrets.key` in the data folder: one key per line, the current one first. It has several only while
// values are sealed again.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, replaceFile } from '../../kernel/index.js';
import { type Key, keyOf } from './sealed-text.js';

export const KEY_FILE = 'secrets.key';
const MOST_BYTES = 4096;
const MODE = 0o600;

export const keyFileIn = (dataDirectory: string): string => join(dataDirectory, KEY_FILE);

/** Reads keys from the lines of a file, or from a list with commas. Returns the reason as text if they are not valid. */
export function keysOf(text: string, separator: RegExp): Key[] | string {
  const lines = text.split(separator).map((line) => line.trim());
  const keys: Key[] = [];
  for (const line of lines.filter((given) => given !== '')) {
    const key = keyOf(line);
    if (!key)
      return 'a key must be 32 bytes in base64, 44 characters, as `openssl rand -base64 32` prints them';
    if (keys.some(({ id }) => id === key.id)) return `the key ${key.id} is there twice`;
    keys.push(key);
  }
  return keys.length > 0 ? keys : 'there is no key in it';
}

/** Returns no keys if there is no file. Rejects for any other content than we write: a lost key must not be replaced silently. */
export async function readKeyFile(path: string): Promise<Key[]> {
  const text = await readPrivate(path).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const reason =
      code === 'ELOOP'
        ? 'it is a symbolic link; put the key itself there, or into WEIR_SECRET_KEY'
        : messageOf(cause);
    throw new Error(`${path} cannot be read: ${reason}`, { cause });
  });
  if (text === undefined) return [];
  const keys = keysOf(text, /\r?\n/);
  if (typeof keys === 'string')
    throw new Error(
      `${path} is damaged: ${keys}; put the file back from a backup, or set WEIR_SECRET_KEY and move the file away`,
    );
  return keys;
}

/** Follows no link and waits for no pipe; removes the permissions of other users. */
async function readPrivate(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new Error('it is not a regular file');
    if (facts.size > MOST_BYTES)
      throw new Error(`it has ${facts.size} bytes, and a file of keys has fewer than ${MOST_BYTES}`);
    if ((facts.mode & 0o077) !== 0) await file.chmod(MODE);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Resolves when the file is on disk; a crash leaves the previous file or this one. */
export const writeKeyFile = (path: string, keys: readonly Key[]): Promise<void> =>
  replaceFile(path, `${keys.map(({ text }) => text).join('\n')}\n`, MODE);
