// Log files that a process appends to: reads the end of one, and limits its size without help of the process.
import { open, rename, rm, stat, truncate } from 'node:fs/promises';

const TAIL = 64 * 1024;
const COPIED_AT_ONCE = 256 * 1024;
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

export interface LogLimits {
  /** a file with more bytes than this is cut */
  readonly maxBytes: number;
  /** how many older files stay beside it, as `<path>.1` (the newest), `<path>.2` … */
  readonly keep: number;
}

/**
 * Truncates a file over its limit in place: a process that has it open with O_APPEND continues at its beginning, and no
 * hole is left. An older file gets the last `maxBytes` of it; what is written between the copy and the cut is lost.
 */
export async function cutLog(path: string, { maxBytes, keep }: LogLimits): Promise<void> {
  if ((await sizeOf(path)) <= maxBytes) return;
  if (keep > 0) await keepOlder(path, maxBytes, keep).catch(() => undefined);
  // Also if the older file could not be written: a full disk is a reason to truncate.
  await truncate(path, 0);
}

async function keepOlder(path: string, maxBytes: number, keep: number): Promise<void> {
  await rm(`${path}.${keep}`, { force: true });
  for (let i = keep - 1; i > 0; i -= 1)
    await rename(`${path}.${i}`, `${path}.${i + 1}`).catch(() => undefined);
  const [from, to] = [await open(path, 'r'), await open(`${path}.1`, 'w', 0o600)];
  try {
    const { size } = await from.stat();
    const buffer = Buffer.allocUnsafe(COPIED_AT_ONCE);
    for (let at = Math.max(0, size - maxBytes); at < size; ) {
      const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, size - at), at);
      if (bytesRead === 0) break;
      await to.writeFile(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  } finally {
    await from.close();
    await to.close();
  }
}
