// Limits the size of a log that a process appends to, without help of the process, and keeps older parts of it.
import { existsSync, ftruncateSync, readSync, renameSync, truncateSync, writeSync } from 'node:fs';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../kernel/index.js';
import { sizeOf } from './log-file.js';

const COPIED_AT_ONCE = 256 * 1024;
/** Bytes that are copied while nothing else runs. */
const MOST_IN_TURN = 4 * 1024 * 1024;
/** A process that writes faster than its log can be copied would have the copy grow without end. */
const TOO_FAST = 'the process writes faster than its log can be copied';
const COMPARED = 512;
const MISSING = 'ENOENT';

export interface LogLimits {
  /** a file with more bytes than this is cut */
  readonly maxBytes: number;
  /** how many older files stay beside it, as `<path>.1` (the newest), `<path>.2` … */
  readonly keep: number;
  /** most bytes of an older file, beside what is written while it is copied, at most as many again or 4 MiB; default `maxBytes` */
  readonly olderBytes?: number;
}
/** Runs the end of a cut, which is synchronous, when nobody else reads the log. */
export type InTurn = (work: () => LogCut) => Promise<LogCut>;

export interface LogCut {
  /** whether `<path>.1` has what was cut off */
  readonly isKept: boolean;
  /** bytes from the beginning of the log that no file has any more */
  readonly lost: number;
  /** why it is not kept, where it should be */
  readonly reason: string;
}

/** Returns the name of the `number`th older file of a log; 0 is the log itself. */
export const olderLog = (path: string, number: number): string => (number === 0 ? path : `${path}.${number}`);

/**
 * Truncates a file over its limit in place: a process that has it open with O_APPEND continues at its beginning, and no
 * hole is left. The next older file gets the last `olderBytes` of it. What the process writes in the microseconds between
 * the end of the copy and the truncation is lost. Resolves with undefined when the file is within its limit. One call at
 * a time for each file.
 *
 * @param inTurn for those who read the log while it is copied
 */
export async function cutLog(
  path: string,
  { maxBytes, keep, olderBytes = maxBytes }: LogLimits,
  inTurn: InTurn = async (work) => work(),
): Promise<LogCut | undefined> {
  await removeBeyond(path, keep);
  const size = await sizeOf(path);
  if (size <= maxBytes) return undefined;
  await finishCut(path, keep);
  let reason = '';
  if (keep > 0) {
    try {
      const begin = Math.max(0, size - olderBytes);
      return await moveToOlder(
        path,
        { begin, most: olderBytes + Math.max(olderBytes, MOST_IN_TURN) },
        keep,
        inTurn,
      );
    } catch (error) {
      // Also if the older file could not be written: a full disk is a reason to truncate.
      reason = messageOf(error);
    }
  }
  return inTurn(() => {
    truncateSync(path, 0);
    return { isKept: false, lost: size, reason };
  });
}

/** After `keep` became smaller. */
async function removeBeyond(path: string, keep: number): Promise<void> {
  for (let i = keep + 1; ; i++)
    if (
      !(await rm(olderLog(path, i)).then(
        () => true,
        () => false,
      ))
    )
      return;
}

/** The name says where in the log the copy begins: a panel that was killed meanwhile leaves it to the next one. */
const draftOf = (path: string, begin: number): string => `${path}.cut-${begin}`;

async function moveToOlder(
  path: string,
  { begin, most }: { readonly begin: number; readonly most: number },
  keep: number,
  inTurn: InTurn,
): Promise<LogCut> {
  const draft = draftOf(path, begin);
  const from = await open(path, 'r+');
  try {
    const to = await open(draft, 'w', 0o600);
    try {
      const buffer = Buffer.allocUnsafe(COPIED_AT_ONCE);
      let at = begin;
      for (let isFull = true; isFull; ) {
        const { bytesRead } = await from.read(buffer, 0, buffer.length, at);
        await to.writeFile(buffer.subarray(0, bytesRead));
        at += bytesRead;
        if (at - begin > most) throw new Error(TOO_FAST);
        isFull = bytesRead === buffer.length;
      }
      // Nothing else of this process runs until the files have their names: readers never see half of it.
      return await inTurn(() => {
        const end = at + MOST_IN_TURN;
        for (let size = 1; size > 0; at += size) {
          if (at > end) throw new Error(TOO_FAST);
          size = readSync(from.fd, buffer, 0, buffer.length, at);
          for (let done = 0; done < size; ) done += writeSync(to.fd, buffer, done, size - done);
        }
        ftruncateSync(from.fd, 0);
        makeOlder(path, draft, keep);
        return { isKept: true, lost: begin, reason: '' };
      });
    } finally {
      await to.close();
    }
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await from.close();
  }
}

/** Numbers stay without a gap, also after a panel that was killed between two of these steps. */
function makeOlder(path: string, draft: string, keep: number): void {
  let free = 1;
  while (free < keep && existsSync(olderLog(path, free))) free++;
  for (let i = free - 1; i > 0; i--) renameSync(olderLog(path, i), olderLog(path, i + 1));
  renameSync(draft, olderLog(path, 1));
}

/** Ends a cut in the middle of which the panel was killed; call it before the older files are read. */
export async function finishCut(path: string, keep: number): Promise<void> {
  const begins = `${basename(path)}.cut-`;
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(begins))) {
    const draft = join(dirname(path), name);
    const [copy, original] = [
      await bytesAt(draft, 0),
      await bytesAt(path, Number(name.slice(begins.length)) || 0),
    ];
    // The log still has what the draft has a copy of, or it was truncated and the draft has all of it.
    const isCut = copy.length > 0 && !copy.equals(original.subarray(0, copy.length));
    if (isCut && keep > 0) makeOlder(path, draft, keep);
    else await rm(draft, { force: true });
  }
}

async function bytesAt(path: string, at: number): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(COMPARED), 0, COMPARED, at);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== MISSING) throw error;
    return Buffer.alloc(0);
  } finally {
    await file?.close();
  }
}
