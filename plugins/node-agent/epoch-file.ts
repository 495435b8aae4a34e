// A small file beside the database. It says which database belongs to this folder and how much of it was told to others:
// a database that is restored from a backup, or a folder that is copied, does not agree with it.
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** Texts of equal length are written in place: the file keeps its inode, which a copy does not have. */
const LENGTH = 160;

export interface EpochMark {
  readonly generation: string;
  /** the last seq that was told in this generation */
  readonly told: number;
}

export class EpochFile {
  readonly path: string;

  constructor(dataDirectory: string) {
    this.path = join(dataDirectory, 'panel.node-epoch');
  }

  /** Resolves with undefined where the file is missing, not readable, or a copy. */
  async read(): Promise<EpochMark | undefined> {
    const file = await open(this.path).catch(() => undefined);
    if (!file) return undefined;
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(LENGTH), 0, LENGTH, 0);
      const { generation, told, inode } = JSON.parse(buffer.toString('utf8', 0, bytesRead)) as Record<
        string,
        unknown
      >;
      const isWhole = typeof generation === 'string' && Number.isSafeInteger(told);
      return isWhole && inode === String((await file.stat()).ino)
        ? { generation, told: told as number }
        : undefined;
    } catch {
      return undefined;
    } finally {
      await file.close();
    }
  }

  /** One call of the system, so a process that is killed leaves the previous text or this one. */
  async write({ generation, told }: EpochMark): Promise<void> {
    const file = await open(this.path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return open(this.path, 'wx+', 0o600);
      throw error;
    });
    try {
      const text = JSON.stringify({ generation, told, inode: String((await file.stat()).ino) });
      await file.write(Buffer.from(text.padEnd(LENGTH)), 0, LENGTH, 0);
    } finally {
      await file.close();
    }
  }
}
