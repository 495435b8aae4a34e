// The file of an admin's own page, read from the folder that the setting names.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../kernel/index.js';

/** The first that is there. */
const NAMES = ['sub.html', 'index.html'];
const MOST_BYTES = 1024 * 1024;

/** Undefined where there is no such file. Devices and pipes have no end, so only files are read. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile()) throw new Error(`${path} is not a file`);
    if (found.size > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES / 1024} KiB`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(found.size), 0, found.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Throws with a sentence where the folder has no page. */
export async function readTheme(folder: string): Promise<string> {
  for (const name of NAMES) {
    const text = await textOf(join(folder, name)).catch((cause: unknown) => {
      throw new Error(`the page in ${folder} cannot be read: ${messageOf(cause)}`, { cause });
    });
    if (text !== undefined) return text;
  }
  throw new Error(`${folder} has no ${NAMES.join(' and no ')}; put the page there`);
}
