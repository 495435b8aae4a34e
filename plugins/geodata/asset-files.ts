// Geodata files on this machine, where the core looks for them, with what is known of each. Read again when a file changes.
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../kernel/index.js';
import { assetFolder, SYSTEM_ASSETS } from '../engine/contract.js';
import { type DatIndex, indexOf } from './dat-index.js';

export const LARGEST_FILE = 128 * 1024 * 1024;
const MOST_FILES = 100;
const DRAFT = /^\.[\w.-]+\.dat\.[0-9a-f]{12}$/;
export const FILE_NAME = /^[\w-][\w.-]{0,123}\.dat$/;

export interface AssetFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  /** Unix ms */
  readonly mtime: number;
}
interface Known<T> {
  readonly mark: string;
  readonly value: Promise<T>;
}

const markOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs} ${size} ${ino}`;

export class AssetFiles {
  /** where files are put */
  readonly folder: string;
  readonly #folders: readonly string[];
  readonly #indexes = new Map<string, Known<DatIndex>>();
  readonly #digests = new Map<string, Known<string>>();

  constructor({ dataDirectory }: { readonly dataDirectory: string }) {
    this.folder = assetFolder(dataDirectory);
    this.#folders = [this.folder, ...SYSTEM_ASSETS];
  }

  /** The file that the core would read; undefined when there is none. */
  async find(name: string): Promise<AssetFile | undefined> {
    for (const folder of this.#folders) {
      const path = join(folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found) return { name, path, size: found.size, mtime: Math.round(found.mtimeMs) };
    }
    return undefined;
  }

  /** Removes what a killed panel left half-written. */
  async removeDrafts(): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => []))
      if (DRAFT.test(name)) await rm(join(this.folder, name), { force: true }).catch(() => undefined);
  }

  /** A name for a file that is being written. */
  draftOf(name: string): string {
    return join(this.folder, `.${name}.${randomBytes(6).toString('hex')}`);
  }

  async all(): Promise<AssetFile[]> {
    const names = await Promise.all(this.#folders.map((folder) => readdir(folder).catch(() => [])));
    const unique = [...new Set(names.flat())].filter((name) => FILE_NAME.test(name)).sort();
    const found = await Promise.all(unique.slice(0, MOST_FILES).map((name) => this.find(name)));
    return found.filter((file) => file !== undefined);
  }

  /** Rejects with why the file cannot be used. */
  index({ path }: AssetFile): Promise<DatIndex> {
    return this.open(path, async (_, index) => index);
  }

  /** Calls with the open file and its index; what is replaced meanwhile stays readable. Rejects with why it cannot be used. */
  async open<T>(path: string, call: (file: FileHandle, index: DatIndex) => Promise<T>): Promise<T> {
    const file = await open(path, 'r');
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new Error('it is not a file');
      const { size } = stats;
      if (size > LARGEST_FILE) throw new Error(`it is larger than ${LARGEST_FILE} bytes`);
      // Who waits for the index of another caller has a file of its own, so this one must stay open until it is made.
      const index = await this.#known(this.#indexes, path, stats, () => indexOf(file, size));
      return await call(file, index);
    } finally {
      await file.close();
    }
  }

  /** SHA-256 */
  async digest({ path }: AssetFile): Promise<string> {
    return this.#known(this.#digests, path, await stat(path), async () => {
      const hash = createHash('sha256');
      for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
      return hash.digest('hex');
    });
  }

  async #known<T>(
    cache: Map<string, Known<T>>,
    path: string,
    stats: Stats,
    make: () => Promise<T>,
  ): Promise<T> {
    const mark = markOf(stats);
    let known = cache.get(path);
    if (known?.mark !== mark) {
      known = { mark, value: make() };
      if (cache.size >= MOST_FILES) cache.clear();
      cache.set(path, known);
      // A failure may pass, such as a lack of file handles.
      known.value.catch(() => cache.delete(path));
    }
    return known.value;
  }

  /** Why a category cannot be used; undefined when it can. */
  async problem(
    name: string,
    code: string,
    {
      kind,
      attributes = [],
    }: { readonly kind?: 'ip' | 'site' | undefined; readonly attributes?: readonly string[] },
  ): Promise<string | undefined> {
    const file = await this.find(name);
    if (!file) return `the file ${name} is missing`;
    let index: DatIndex;
    try {
      index = await this.index(file);
    } catch (error) {
      return `${name} cannot be used: ${messageOf(error)}`;
    }
    const category = index.categories.get(code);
    if (!category) return `${name} has no category ${code}`;
    if (kind && index.kind && index.kind !== kind)
      return `${name} holds ${index.kind === 'ip' ? 'addresses' : 'domains'}, and ${kind === 'ip' ? 'addresses' : 'domains'} are needed here`;
    const missing = attributes.find((attribute) => !category.attributes.includes(attribute));
    return missing === undefined
      ? undefined
      : `no domain of ${code} in ${name} has the attribute @${missing}`;
  }
}
