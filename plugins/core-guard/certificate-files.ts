// Files that an inbound may name: regular files of a certificate's size, in folders that the machine's owner allows.
import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LARGEST = 1024 * 1024;
const LIMIT_MS = 2_000;
/** The panel's own entries in its data folder. */
const OWN = /^(?:weir\.|panel\.|first-login|(?:engine|backups|plugins|bin)$)/i;

/** The file must never be used, whatever its content; other errors may be temporary. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

/** Returns the path relative to the folder; undefined outside of it. */
function below(folder: string, path: string): string | undefined {
  const rest = relative(folder, path);
  return rest === '' || rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest) ? undefined : rest;
}

export class CertificateFiles {
  readonly #folders: readonly string[];
  readonly #dataDirectory: string;

  constructor(folders: readonly string[], dataDirectory: string) {
    this.#folders = folders.map((folder) => resolve(folder));
    this.#dataDirectory = resolve(dataDirectory);
  }

  /** Rejects with FileRefused, or with an error of the system (no such file, no permission, too late). */
  async read(path: string): Promise<string> {
    return this.#inTime(path, async () => {
      const file = await open(
        await this.#find(path),
        // A pipe or a terminal would block the caller.
        constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW,
      );
      try {
        this.#refuseStrange(path, await file.stat());
        const { buffer, bytesRead } = await file.read(Buffer.alloc(LARGEST), 0, LARGEST, 0);
        return buffer.toString('utf8', 0, bytesRead);
      } finally {
        await file.close();
      }
    });
  }

  /** Checks the file without opening it; rejects like `read`. */
  async check(path: string): Promise<void> {
    await this.#inTime(path, () => this.#find(path));
  }

  /** Resolves with the real path. Paths outside are refused by name, whether they exist or not. */
  async #find(path: string): Promise<string> {
    if (!isAbsolute(path))
      throw new FileRefused(
        `${path} must be an absolute path: the core looks for others beside its own program`,
      );
    this.#refuseOutside(path, resolve(path), [...this.#folders, this.#dataDirectory], this.#dataDirectory);
    const real = async (folder: string): Promise<string> => realpath(folder).catch(() => folder);
    const data = await real(this.#dataDirectory);
    const found = await realpath(path);
    this.#refuseOutside(path, found, [...(await Promise.all(this.#folders.map(real))), data], data);
    this.#refuseStrange(path, await stat(found));
    return found;
  }

  #refuseOutside(named: string, path: string, folders: readonly string[], data: string): void {
    const inData = below(data, path);
    if (inData !== undefined && OWN.test(inData.split(sep)[0] ?? ''))
      throw new FileRefused(`${named} belongs to the panel itself`);
    if (!folders.some((folder) => below(folder, path) !== undefined))
      throw new FileRefused(
        `${named} is outside the folders for certificates (${[...this.#folders, this.#dataDirectory].join(', ')}); move it there, or name its folder in WEIR_CERTIFICATE_DIRS and restart the panel`,
      );
  }

  #refuseStrange(path: string, file: { isFile(): boolean; readonly size: number }): void {
    if (!file.isFile()) throw new FileRefused(`${path} is not a regular file`);
    if (file.size > LARGEST) throw new FileRefused(`${path} has more than 1 MiB, too much for a certificate`);
  }

  async #inTime<T>(path: string, work: () => Promise<T>): Promise<T> {
    const late = new AbortController();
    try {
      return await Promise.race([
        work(),
        sleep(LIMIT_MS, undefined, { ref: false, signal: late.signal }).then(() => {
          throw new Error(`${path} could not be read within ${LIMIT_MS / 1000} s`);
        }),
      ]);
    } finally {
      late.abort();
    }
  }
}
