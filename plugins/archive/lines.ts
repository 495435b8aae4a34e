// Reads the lines of a file, compressed or not, of which nothing is known yet: each limit is checked before memory is taken.
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf, type PanelError } from '../../kernel/index.js';
import { errors } from './errors.js';
import { MOST_AT_ONCE, MOST_LINE_BYTES, MOST_LINES, MOST_TEXT_BYTES } from './format.js';

const PIECE = 256 * 1024;
const NEWLINE = 10;
const GZIP = [0x1f, 0x8b] as const;

async function isCompressed(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === GZIP[0] && buffer[1] === GZIP[1];
}

async function* bytesOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  // A stream of Node would close the file, which is read a second time.
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE), 0, PIECE, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The bytes of the file, decompressed. */
async function* textOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (!(await isCompressed(file))) {
    yield* bytesOf(file, signal);
    return;
  }
  const text = createGunzip({ chunkSize: PIECE });
  const bytes = Readable.from(bytesOf(file, signal));
  bytes.on('error', (error) => text.destroy(error));
  try {
    yield* bytes.pipe(text);
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw errors.REFUSED(`the file cannot be decompressed: ${messageOf(cause)}; nothing was changed`, {
      cause,
    });
  } finally {
    bytes.destroy();
    text.destroy();
  }
}

/** Yields each line with its newline, some at a time. The last one may lack it. */
export async function* linesOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<readonly Buffer[]> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let lines = 0;
  let total = 0;
  const tooLong = (): PanelError =>
    errors.REFUSED(
      `line ${lines + 1} has more than ${MOST_LINE_BYTES} bytes, which no record has; nothing was changed`,
    );
  for await (const piece of textOf(file, signal)) {
    signal.throwIfAborted();
    total += piece.length;
    if (total > MOST_TEXT_BYTES)
      throw errors.REFUSED(`it has more than ${MOST_TEXT_BYTES} bytes of text; nothing was changed`);
    let found: Buffer[] = [];
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      const own = piece.subarray(start, end + 1);
      if (restBytes + own.length > MOST_LINE_BYTES) throw tooLong();
      found.push(rest.length === 0 ? own : Buffer.concat([...rest, own]));
      rest = [];
      restBytes = 0;
      start = end + 1;
      if (++lines > MOST_LINES)
        throw errors.REFUSED(`it has more than ${MOST_LINES} lines; nothing was changed`);
      // A piece may be newlines only, and whoever reads the lines gives others their turn.
      if (found.length === MOST_AT_ONCE) {
        yield found;
        found = [];
      }
    }
    if (start < piece.length) {
      rest.push(piece.subarray(start));
      restBytes += piece.length - start;
      if (restBytes > MOST_LINE_BYTES) throw tooLong();
    }
    if (found.length > 0) yield found;
  }
  if (restBytes > 0) yield [Buffer.concat(rest)];
}
