// Log files that a process appends to: reads the end of one.
import { open, stat } from 'node:fs/promises';

const TAIL = 64 * 1024;
const LINES = 20;
const LINE_LENGTH = 500;
/** C0, DEL and C1 (ECMA-48): a program could move the cursor of whoever reads the line in a terminal. */
const CONTROL = /\p{Cc}/gu;

/** Returns the size in bytes; 0 for a missing file. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** Returns at most the last `limit` bytes of a file, none before the position `from`; empty when there is no file. A file shorter than `from` was cut meanwhile and is read from its beginning. */
export async function readTail(path: string, from = 0, limit = TAIL): Promise<string> {
  const size = await sizeOf(path);
  const begin = Math.max(from > size ? 0 : from, size - limit);
  if (size <= begin) return '';
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - begin), 0, size - begin, begin);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Returns the last non-empty lines of a text, at most 20 of at most 500 characters, without control characters. */
export function lastLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replaceAll(CONTROL, '').trimEnd().slice(0, LINE_LENGTH))
    .filter((line) => line !== '')
    .slice(-LINES);
}
