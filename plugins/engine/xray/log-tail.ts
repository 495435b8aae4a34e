// Reads the lines of a log from its end.
import { type FileHandle, open } from 'node:fs/promises';

const CHUNK = 128 * 1024;
/** Longer lines are left out; the core writes none. */
const LONGEST_LINE = 64 * 1024;

/** `place` is where the line ends, its line break included. */
type Line = (text: string, place: number) => boolean;

/**
 * Calls `line` with one line after another, the last one first, until it returns false, `most` bytes were read, or the log
 * is over. Half a line at the end is left out: it is being written. So are empty lines. Others get their turn after each
 * 128 KiB.
 *
 * @param paths the log and its older parts, newest first; it ends at the first that is missing
 * @param begin the place where the newest of them begins; older ones are before it, each at the end of the next
 */
export async function readBackwards(
  paths: Iterable<string>,
  most: number,
  line: Line,
  begin = 0,
): Promise<void> {
  let left = most;
  let place = begin;
  let isNewest = true;
  const beginOf = (size: number): number => {
    if (!isNewest) place -= size;
    isNewest = false;
    return place;
  };
  for (const path of paths) {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    const read = file && (await readFile(file, left, line, beginOf));
    if (read === undefined) return;
    left -= read;
    if (left <= 0) return;
  }
}

/** Resolves with the number of bytes; undefined when no more lines are wanted. */
async function readFile(
  file: FileHandle,
  most: number,
  line: Line,
  beginOf: (size: number) => number,
): Promise<number | undefined> {
  try {
    const { size } = await file.stat();
    const begin = beginOf(size);
    const least = Math.max(0, size - most);
    // The chunk, and after it the beginning of a line whose end has been read.
    const buffer = Buffer.allocUnsafe(CHUNK + LONGEST_LINE + 1);
    let at = size;
    let rest = 0;
    let isWhole = false;
    while (at > least) {
      const length = Math.min(CHUNK, at - least);
      at -= length;
      buffer.copyWithin(length, 0, rest);
      const { bytesRead } = await file.read(buffer, 0, length, at);
      // The log was truncated meanwhile.
      if (bytesRead < length) return undefined;
      const lines = buffer.subarray(0, length + rest);
      let end = lines.length;
      for (let start = lines.lastIndexOf(10, end - 1); start >= 0; start = lines.lastIndexOf(10, end - 1)) {
        const isLine = isWhole && end - start > 1 && end - start <= LONGEST_LINE;
        if (isLine && !line(lines.toString('utf8', start + 1, end), begin + at + end + 1)) return undefined;
        isWhole = true;
        end = start;
        if (end === 0) break;
      }
      // Of a line that is too long only its length matters.
      rest = Math.min(end, LONGEST_LINE + 1);
    }
    const isFirst = at === 0 && isWhole && rest > 0 && rest <= LONGEST_LINE;
    return isFirst && !line(buffer.toString('utf8', 0, rest), begin + rest + 1) ? undefined : size - at;
  } finally {
    await file.close();
  }
}
