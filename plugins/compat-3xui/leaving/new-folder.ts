// A folder of an admin that is written once: private, and complete or not there.
import { createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Refusal, syncFolder } from '../../../kernel/index.js';

const reasonOf = (error: NodeJS.ErrnoException): string => error.code ?? error.message;

export class NewFolder {
  readonly #path: string;
  readonly #draft: string;
  readonly #signal: AbortSignal;
  readonly files: string[] = [];

  private constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#draft = `${path}.part`;
    this.#signal = signal;
  }

  /** Runs the work, which writes the files, and gives the folder its name then. Rejects with a Refusal, and nothing is left. */
  static async write(
    path: string,
    signal: AbortSignal,
    work: (folder: NewFolder) => Promise<void>,
  ): Promise<NewFolder> {
    const there = await readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new Refusal(`${path} cannot be used: ${reasonOf(error)}`);
    });
    if (there && there.length > 0) throw new Refusal(`${path} is not empty; choose a new folder`);
    const folder = new NewFolder(path, signal);
    await mkdir(folder.#draft, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      throw new Refusal(
        error.code === 'EEXIST'
          ? `${folder.#draft} is there, from an export that was interrupted or is under way; delete it`
          : `${folder.#draft} cannot be created: ${reasonOf(error)}`,
      );
    });
    try {
      await work(folder);
      // An empty folder with this name gives way.
      await rename(folder.#draft, path);
      await syncFolder(dirname(path));
      return folder;
    } catch (error) {
      await rm(folder.#draft, { recursive: true, force: true });
      throw error;
    }
  }

  /** `name` may have one folder in it: `clients/1.json`. */
  async put(name: string, text: string | AsyncIterable<string>): Promise<void> {
    const path = join(this.#draft, name);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const source = typeof text === 'string' ? [text] : text;
    await pipeline(
      Readable.from(source),
      createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
      { signal: this.#signal },
    );
    const parent = await open(dirname(path));
    await parent.sync().catch(() => undefined);
    await parent.close();
    this.files.push(name);
  }

  get path(): string {
    return this.#path;
  }
}
