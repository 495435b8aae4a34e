// Copies of the database that leave the panel: as a download, or as a file of an admin.
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, PanelError } from '../../kernel/index.js';
import type { PanelDatabaseApi } from './contract.js';
import { isDraftName } from './draft-name.js';
import type { Encryption } from './encryption/age-file.js';
import { encryptInThread } from './encryption/encrypt-in-thread.js';
import { errors } from './errors.js';
import { stamp } from './file-name.js';
import { makeFolder } from './make-folder.js';

/** Each holds as much disk as the database, as long as its reader takes. */
const MOST_AT_ONCE = 2;
const PIECE = 192 * 1024;

/** Another panel may write into the same folder at the moment. */
const DRAFT_AGE_MS = 6 * 3_600_000;

async function removeOldDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!isDraftName(name)) continue;
    const facts = await stat(join(folder, name)).catch(() => undefined);
    if (facts && Date.now() - facts.mtimeMs > DRAFT_AGE_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** A copy without a name: its disk space is free when it is closed, or when the process dies. */
export interface Copy {
  readonly bytes: number;
  /** Yields it in pieces whose length is a multiple of 3, as base64 needs. */
  pieces(): AsyncGenerator<Buffer>;
  sha256(): Promise<string>;
  close(): Promise<void>;
}

export class Snapshots {
  readonly #database: PanelDatabaseApi | undefined;
  readonly #folder: string;
  readonly #backups: string;
  #open = 0;
  #count = 0;

  constructor({
    database,
    dataDirectory,
  }: { database?: PanelDatabaseApi | undefined; dataDirectory: string }) {
    this.#database = database;
    this.#folder = resolve(dataDirectory, 'snapshots');
    this.#backups = resolve(dataDirectory, 'backups');
  }

  /** A crash leaves copies behind. */
  start(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  #copy(path: string): Promise<void> {
    if (!this.#database) throw errors.NO_PROGRAM();
    return this.#database.snapshot(path);
  }

  /** Copies the database for one reader, who closes the copy. */
  async take(): Promise<Copy> {
    if (this.#open >= MOST_AT_ONCE) throw errors.BUSY();
    this.#open++;
    const path = join(this.#folder, `${process.pid}-${this.#count++}.db`);
    let file: FileHandle | undefined;
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await this.#copy(path);
      file = await open(path);
      await rm(path);
      const { size } = await file.stat();
      return this.#copyOf(file, size);
    } catch (error) {
      this.#open--;
      await file?.close();
      await rm(path, { force: true }).catch(() => undefined);
      throw error instanceof PanelError ? error : errors.NOT_COPIED(messageOf(error));
    }
  }

  #copyOf(file: FileHandle, bytes: number): Copy {
    let closed: Promise<void> | undefined;
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = 0; at < bytes; ) {
        const length = Math.min(PIECE, bytes - at);
        const piece = Buffer.allocUnsafe(length);
        const { bytesRead } = await file.read(piece, 0, length, at);
        if (bytesRead !== length) throw new Error('a copy of the database has become shorter');
        at += length;
        yield piece;
      }
    }
    return {
      bytes,
      pieces,
      sha256: async () => {
        const hash = createHash('sha256');
        for await (const piece of pieces()) hash.update(piece);
        return hash.digest('hex');
      },
      close: () => {
        closed ??= file.close().finally(() => this.#open--);
        return closed;
      },
    };
  }

  /** The plain copy never leaves the data folder. */
  async #encrypted(draft: string, encryption: Encryption): Promise<void> {
    const plain = join(this.#folder, `${process.pid}-${this.#count++}.db`);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    try {
      await this.#copy(plain);
      await encryptInThread(plain, draft, encryption);
    } finally {
      await rm(plain, { force: true }).catch(() => undefined);
    }
  }

  /** Writes a copy into a folder, by default `backups` of the data folder. Resolves with its path when it is complete and on the disk. */
  async writeTo(folder = this.#backups, encryption?: Encryption): Promise<string> {
    await makeFolder(folder);
    await removeOldDrafts(folder);
    const name = `weir_${stamp(new Date())}`;
    const draft = join(folder, `.${name}.${process.pid}-${this.#count++}.part`);
    const ending = encryption ? '.db.age' : '.db';
    try {
      if (encryption) await this.#encrypted(draft, encryption);
      else await this.#copy(draft);
      for (let n = 0; ; n++) {
        const path = join(folder, `${name}${n === 0 ? '' : `-${n}`}${ending}`);
        // Claims the name first, so that two backups of one second do not replace each other.
        const claimed = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return undefined;
          throw error;
        });
        if (!claimed) continue;
        await claimed.close();
        await rename(draft, path);
        const directory = await open(folder);
        await directory.sync().catch(() => undefined);
        await directory.close();
        return path;
      }
    } finally {
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }
}
