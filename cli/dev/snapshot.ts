// Records which files a panel may have loaded, and finds those that have changed since.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Never part of a running plugin. */
const SKIPPED = new Set(['node_modules', 'test', 'coverage']);
/** Sources, by-products of the compiler, and tests. */
const NOT_RUN = /\.(?:[cm]?ts|tsx|map|tsbuildinfo|md)$|\.test\.[cm]?js$|~$|\.sw[px]$/;

export interface Watched {
  readonly base: string;
  /** below `base` */
  readonly folders: readonly string[];
  /** folders to skip, as absolute paths */
  readonly except: readonly string[];
}

export const isSkipped = (name: string): boolean => name.startsWith('.') || SKIPPED.has(name);
const mayRun = (name: string): boolean => !NOT_RUN.test(name) && !name.startsWith('.');

/** Larger files are compared by time and size. */
const READ_BYTES = 1024 * 1024;

/** Compilers rewrite unchanged files, so compare the content. */
async function digest(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size } = await stat(path);
    if (size > READ_BYTES) return `${mtimeMs} ${size}`;
    return createHash('sha256')
      .update(await readFile(path))
      .digest('base64');
  } catch {
    return undefined;
  }
}

/** A digest of each file's content, by its path below the base. */
export async function snapshot({ base, folders, except }: Watched): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    await Promise.all(
      entries.map(async (entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory())
          return isSkipped(entry.name) || except.includes(path) ? undefined : walk(path);
        if (!mayRun(entry.name)) return;
        const found = await digest(path);
        if (found !== undefined) files.set(relative(base, path), found);
      }),
    );
  };
  await Promise.all(folders.map((folder) => walk(join(base, folder))));
  return files;
}

/** Paths that were added, changed or removed, sorted. */
export const changed = (
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly string[] =>
  [...new Set([...before.keys(), ...now.keys()])].filter((path) => before.get(path) !== now.get(path)).sort();
