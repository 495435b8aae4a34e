// A copy of the database as a file for the chat: compressed, and only if it fits.
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { PanelDatabaseApi } from '../backup/contract.js';
import type { ChatFile } from './chat-call.js';

/** What a chat takes from a bot. */
export const MOST_BYTES = 10 * 1024 * 1024;
/** The form around it needs room too. */
const ROOM = MOST_BYTES - 64 * 1024;

class TooLarge extends Error {}
/** Ends early: the rest of a large database need not be compressed, and takes no disk. */
async function* limited(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > ROOM) throw new TooLarge();
    yield piece;
  }
}

export class BackupFile {
  readonly #database: PanelDatabaseApi | undefined;
  readonly #folder: string;

  constructor({
    database,
    dataDirectory,
  }: { database?: PanelDatabaseApi | undefined; dataDirectory: string }) {
    this.#database = database;
    this.#folder = resolve(dataDirectory, 'snapshots');
  }

  /** Resolves with undefined where it does not fit. Nothing stays on the disk; the plugin backup removes what a crash leaves in this folder. */
  async make(at: number, signal: AbortSignal): Promise<ChatFile | undefined> {
    if (!this.#database) throw new Error('this program cannot copy its database');
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `webhook-${randomBytes(6).toString('hex')}.db`);
    const packed = `${path}.gz`;
    try {
      await this.#database.snapshot(path);
      await pipeline(
        createReadStream(path),
        createGzip(),
        limited,
        createWriteStream(packed, { mode: 0o600 }),
        { signal },
      );
      const stamp = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');
      return { name: `weir_${stamp}.db.gz`, bytes: await readFile(packed) };
    } catch (error) {
      if (error instanceof TooLarge) return undefined;
      throw error;
    } finally {
      await Promise.all([path, packed].map((file) => rm(file, { force: true }).catch(() => undefined)));
    }
  }
}
