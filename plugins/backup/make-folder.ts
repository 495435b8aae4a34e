// Makes a folder that an admin has named. Node's own `recursive` never ends where the parent exists and takes no folder, as
// /proc: it tries again without a pause, in a thread of the panel.
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes the folder and those above it, where they are missing. */
export async function makeFolder(path: string): Promise<void> {
  const isThere = async (): Promise<boolean> =>
    (await stat(path).catch(() => undefined))?.isDirectory() === true;
  if (await isThere()) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolder(parent);
  await mkdir(path, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST' && (await isThere())) return;
    throw new Error(`the folder ${path} cannot be created: ${error.code ?? error.message}`, { cause: error });
  });
}
