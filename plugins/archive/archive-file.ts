// Writes an archive to a file of an admin: complete or not at all, and private.
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { PanelError, syncFolder } from '../../kernel/index.js';
import { errors } from './errors.js';

/** Why `path` cannot be written, as a clause. */
function reasonOf(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no folder ${dirname(path)}`;
  if (code === 'EACCES') return 'the user of the panel may not write there';
  if (code === 'ENOSPC') return 'the disk is full';
  return code ?? message;
}

/** Resolves when the file is on the disk. A file that is there is not replaced. */
export async function writeArchiveFile(
  path: string,
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    const claimed = await open(path, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
      throw errors.NOT_WRITTEN(
        cause.code === 'EEXIST'
          ? `${path} already exists; choose another name`
          : `${path} cannot be written: ${reasonOf(path, cause)}`,
        { cause },
      );
    });
    await claimed.close();
    try {
      const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      const source = Readable.from(pieces);
      await (path.endsWith('.gz')
        ? pipeline(source, createGzip(), file, { signal })
        : pipeline(source, file, { signal }));
      await rename(draft, path);
      await syncFolder(dirname(path));
    } catch (cause) {
      // The name that was claimed is of an empty file.
      await rm(path, { force: true }).catch(() => undefined);
      throw cause;
    }
  } catch (cause) {
    if (cause instanceof PanelError) throw cause;
    throw errors.NOT_WRITTEN(`${path} cannot be written: ${reasonOf(path, cause as NodeJS.ErrnoException)}`, {
      cause,
    });
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}
