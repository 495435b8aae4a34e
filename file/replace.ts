// Writes a file so that a crash, a power cut or a full disk leaves either the previous content or the new one.
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode & 0o777;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Resolves when the file is on the disk. Without `mode` it keeps the mode of the previous file; a new one is private (0600).
 * Rejects with a sentence that names the file; its previous content is untouched then.
 */
export async function replaceFile(path: string, text: string, mode?: number): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const rights = mode ?? (await modeOf(path));
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(text);
      if (rights !== undefined) await file.chmod(rights);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new Error(`${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

/** Without this a power cut can bring the previous file of a folder back. Not every file system offers it. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync().catch(() => undefined);
  } finally {
    await folder.close();
  }
}
