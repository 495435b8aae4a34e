// Which core runs for a data folder.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Undefined when none runs. A pid alone may be another program's by now, so the command line is compared. */
export async function corePidIn(dataDirectory: string): Promise<number | undefined> {
  const folder = join(dataDirectory, 'engine');
  try {
    const { identity } = JSON.parse(await readFile(join(folder, 'core.json'), 'utf8')) as {
      identity: { pid: number };
    };
    return (await readFile(`/proc/${identity.pid}/cmdline`, 'utf8')).includes(folder)
      ? identity.pid
      : undefined;
  } catch {
    return undefined;
  }
}
