// The file from which a later panel recognises a process.
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { messageOf } from '../../kernel/index.js';
import type { ProcessIdentity } from './identity.js';

/** A longer file is not ours, and is not read. */
const LARGEST = 64 * 1024 * 1024;

export interface Recorded<N extends object> {
  readonly identity: ProcessIdentity;
  /** Unix ms */
  readonly startedAt: number;
  /** the note of the slot's owner */
  readonly note: N;
}

const isIdentity = (value: Partial<ProcessIdentity> | null | undefined): value is ProcessIdentity =>
  typeof value === 'object' &&
  value !== null &&
  Number.isInteger(value.pid) &&
  (value.pid ?? 0) > 0 &&
  typeof value.startTicks === 'string' &&
  typeof value.bootId === 'string';

export class RecordFile<N extends object> {
  readonly path: string;
  readonly #isNote: (value: object) => value is N;

  constructor(path: string, isNote: (value: object) => value is N) {
    this.path = path;
    this.#isNote = isNote;
  }

  /** Returns undefined if there is no readable record; calls `unreadable` for an unreadable one. */
  async load(unreadable: (reason: string) => void): Promise<Recorded<N> | undefined> {
    try {
      if ((await stat(this.path)).size > LARGEST) unreadable('it is too large');
      else {
        const { identity, startedAt, ...note } = Object(
          JSON.parse(await readFile(this.path, 'utf8')),
        ) as Partial<Recorded<N>>;
        if (isIdentity(identity) && typeof startedAt === 'number' && this.#isNote(note))
          return { identity, startedAt, note };
        unreadable('fields are missing');
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unreadable(messageOf(error));
    }
    return undefined;
  }

  /** Writes the record whole or not at all; rejects with a message that names the file. One call at a time. */
  async save({ identity, startedAt, note }: Recorded<N>): Promise<void> {
    const draft = `${this.path}.new`;
    try {
      await rm(draft, { force: true });
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify({ identity, startedAt, ...note })}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.path);
    } catch (cause) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw new Error(`${this.path} cannot be written: ${messageOf(cause)}`, { cause });
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
