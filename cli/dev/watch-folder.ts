// Notices changes below a folder. One watch for each folder, not for each file: editors replace files.
import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSkipped } from './snapshot.js';

/** An editor writes a file in several steps, and saves several at once. */
const QUIET_MS = 60;

/** Calls `changed` once for changes that belong together, with the time of the first in `performance.now()` time; `counts` decides which paths matter. Returns a function that stops the watch. */
export function watchFolder(
  folder: string,
  counts: (path: string) => boolean,
  changed: (since: number) => void,
): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let closed = false;
  const forget = (path: string): void => {
    watchers.get(path)?.close();
    watchers.delete(path);
  };
  const notice = (path: string, name: string | null): void => {
    void add(path);
    if (name !== null && (isSkipped(name) || !counts(join(path, name)))) return;
    clearTimeout(timer);
    const first = (since ??= performance.now());
    timer = setTimeout(() => {
      since = undefined;
      changed(first);
    }, QUIET_MS);
  };
  /** Watches the folder and the folders in it that are not watched yet. */
  const add = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
    if (!entries) return forget(path);
    if (closed) return;
    if (!watchers.has(path)) {
      try {
        const watcher = watch(path, (_, name) => notice(path, name));
        watcher.on('error', () => forget(path));
        watchers.set(path, watcher);
      } catch {
        // It was removed meanwhile.
        return;
      }
    }
    const folders = entries.filter((entry) => entry.isDirectory() && !isSkipped(entry.name));
    const fresh = folders.map(({ name }) => join(path, name)).filter((inner) => !watchers.has(inner));
    await Promise.all(fresh.map(add));
  };
  void add(folder);
  return () => {
    closed = true;
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}
