// The core that a panel left behind: ended when `weir dev` ends and no panel is there to do it.
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Ends the programs that a panel of this data folder keeps beside it: they are called with files of its folder `engine`. */
export async function endCore(dataDirectory: string): Promise<void> {
  const folder = join(dataDirectory, 'engine') + sep;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (!words.slice(1).some((word) => word.startsWith(folder))) continue;
    try {
      process.kill(Number(pid), 'SIGTERM');
    } catch {
      // It has ended meanwhile.
    }
  }
}
