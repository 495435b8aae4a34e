// Copies a database of 3x-ui into a private folder, with the part of it that is still in its write-ahead log. What is read is
// the copy: whatever happens to the file meanwhile, it stays as it was.
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from '../errors.js';

/** 100,000 clients on five inbounds have about 300 MB. */
export const MOST_BYTES = 2 * 1024 ** 3;
const MAGIC = 'SQLite format 3\0';
const PIECE = 1024 * 1024;
const ATTEMPTS = 5;
const PAUSE_MS = 300;

const refuse = (reason: string, cause?: unknown): Error =>
  errors.UNREADABLE(`the file cannot be imported: ${reason}; nothing was changed`, { cause });

/** Beginnings of other files, and what to do with them. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'it is empty'],
  [/^PK/, 'it is a ZIP archive; unpack it first'],
  [/^[^ -~]\x8b|^BZh|^\xfd7zXZ|^\(\xb5\/\xfd/, 'it is compressed; unpack it first'],
  [/^\s*(?:PRAGMA|BEGIN TRANSACTION|CREATE TABLE|INSERT INTO|--)/i, 'it is SQL text; take x-ui.db itself'],
  [/^\s*[[{]/, 'it is JSON; take x-ui.db itself'],
];

/** Why it is no complete SQLite file; undefined when it is one. */
export function headerProblem(start: Buffer, size: number): string | undefined {
  const text = start.toString('latin1');
  if (!text.startsWith(MAGIC)) return OTHERS.find(([is]) => is.test(text))?.[1] ?? 'it is not a SQLite file';
  if (start.length < 100) return 'it is incomplete';
  const page = start.readUInt16BE(16);
  const bytes = (page === 1 ? 65_536 : page) * start.readUInt32BE(28);
  return size < bytes ? `it is incomplete: it has ${size} of ${bytes} bytes` : undefined;
}

/** What changes when a program writes to a file, or puts another one in its place. */
async function mark(path: string): Promise<string> {
  const file = await openFile(path);
  if (!file) return 'none';
  try {
    const { ino, size, mtimeNs } = await file.stat({ bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } finally {
    await file.close();
  }
}

/** Undefined where there is none. A pipe that nobody writes to does not block. */
async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw refuse(
      code === 'EACCES'
        ? `this panel runs as user ${process.getuid?.() ?? '?'}, who may not read ${path}; copy it to where this user can read it, or send it with the API`
        : `${path} cannot be opened: ${code ?? String(cause)}`,
      cause,
    );
  }
}

/** Returns the number of bytes; undefined where there is no such file. */
async function copyFile(from: string, to: string, isDatabase: boolean): Promise<number | undefined> {
  const source = await openFile(from);
  if (!source) return undefined;
  try {
    const facts = await source.stat();
    if (!facts.isFile()) throw refuse(`${from} is not a regular file`);
    if (facts.size > MOST_BYTES)
      throw refuse(`it has ${facts.size} bytes, and at most ${MOST_BYTES} are read`);
    if (isDatabase) {
      const { buffer, bytesRead } = await source.read(Buffer.alloc(100), 0, 100, 0);
      const problem = headerProblem(buffer.subarray(0, bytesRead), facts.size);
      if (problem !== undefined) throw refuse(problem);
    }
    const target = await open(to, 'w', 0o600);
    try {
      const piece = Buffer.alloc(PIECE);
      for (let at = 0; ; ) {
        const { bytesRead } = await source.read(piece, 0, PIECE, at);
        if (bytesRead === 0) return at;
        at += bytesRead;
        if (at > MOST_BYTES) throw refuse(`it has more than ${MOST_BYTES} bytes`);
        await target.write(piece.subarray(0, bytesRead));
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Resolves with the path of the copy. Rejects with UNREADABLE. */
export async function privateCopy(path: string, folder: string): Promise<string> {
  const file = await realpath(path).catch((cause: unknown) => {
    throw refuse(`${path} cannot be found or read`, cause);
  });
  const copy = join(folder, 'x-ui.db');
  const log = `${file}-wal`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = [await mark(file), await mark(log)].join();
    await copyFile(file, copy, true);
    await copyFile(log, `${copy}-wal`, false);
    if ([await mark(file), await mark(log)].join() === before) return copy;
    await sleep(PAUSE_MS);
  }
  throw refuse(
    'it changes while it is read; stop 3x-ui (`systemctl stop x-ui`), or take the file of its backup',
  );
}
