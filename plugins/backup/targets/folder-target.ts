// A folder as a target: another disk, or one of another machine that is mounted here.
import { constants, createReadStream } from 'node:fs';
import { copyFile, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LiveSettings } from '../../../kernel/index.js';
import type { BackupTarget, TargetFile } from '../contract.js';
import { makeFolder } from '../make-folder.js';
import type { backupSettings } from '../settings.js';

/** `<guid>/<file>`; nothing that leads elsewhere. */
const KEY = /^[A-Za-z0-9-]{1,64}\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,90}$/;
const DRAFT = /^\.weir_[\w.-]+\.part$/;
const FOLDER = /^[A-Za-z0-9-]{1,64}$/;

export class FolderTarget implements BackupTarget {
  readonly name = 'folder';
  readonly #settings: LiveSettings<typeof backupSettings>;

  constructor({ settings }: { settings: LiveSettings<typeof backupSettings> }) {
    this.#settings = settings;
  }

  isOn(): boolean {
    return this.#settings.read().backupFolder !== '';
  }

  place(): string {
    return this.#settings.read().backupFolder;
  }

  /** A disk that is not mounted is an empty folder on the wrong disk, or none. */
  async #root(): Promise<string> {
    const { backupFolder: path, backupFolderRequired } = this.#settings.read();
    if (!backupFolderRequired) await makeFolder(path);
    const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT')
        throw new Error(`the folder ${path} does not exist; mount it, or create it`, { cause: error });
      throw error;
    });
    if (!facts.isDirectory()) throw new Error(`${path} is not a folder`);
    return path;
  }

  async #pathOf(key: string): Promise<string> {
    if (!KEY.test(key)) throw new Error(`${JSON.stringify(key)} is not the name of a file of a backup`);
    return join(await this.#root(), key);
  }

  async put(key: string, { path }: { readonly path: string }, signal: AbortSignal): Promise<void> {
    const target = await this.#pathOf(key);
    const folder = dirname(target);
    await makeFolder(folder);
    if ((await lstat(folder)).isSymbolicLink())
      throw new Error(`${folder} is a link, and backups are not written through links`);
    const draft = join(folder, `.${key.slice(key.indexOf('/') + 1)}.part`);
    try {
      // Only this panel writes here, one file after another: other drafts are those of a process that was killed.
      for (const name of await readdir(folder))
        if (DRAFT.test(name)) await rm(join(folder, name), { force: true });
      await copyFile(path, draft, constants.COPYFILE_EXCL);
      signal.throwIfAborted();
      const file = await open(draft, 'r+');
      // A file system without modes, as of many network shares, refuses this.
      await file.chmod(0o600).catch(() => undefined);
      await file.sync().finally(() => file.close());
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async *read(key: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const path = await this.#pathOf(key);
    const stream = createReadStream(path, { highWaterMark: 256 * 1024, signal });
    yield* stream as AsyncIterable<Uint8Array>;
  }

  async list(folder: string, most: number): Promise<readonly TargetFile[]> {
    if (!FOLDER.test(folder)) throw new Error(`${JSON.stringify(folder)} is not the name of a folder`);
    const path = join(await this.#root(), folder);
    const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const files = await Promise.all(
      names
        .slice(0, most)
        .map(async (name) => ({ name, facts: await lstat(join(path, name)).catch(() => undefined) })),
    );
    return files.flatMap(({ name, facts }) => (facts?.isFile() ? [{ name, bytes: facts.size }] : []));
  }

  async remove(key: string): Promise<void> {
    await rm(await this.#pathOf(key), { force: true });
  }
}
