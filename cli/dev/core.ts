// Stops the core that a panel left running, when `weir dev` stops and no panel is there to do it.
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Stops the programs of a panel with this data folder: their arguments name files of its folder `engine`. */
export async function endCore(dataDirectory: string): Promise<void> {
  const folder = join(dataDirectory, 'engine') + sep;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (!words.slice(1).some((word) => word.startsWith(folder))) continue;
    try {
      process.kill(Number(pid), 'SIGTERM');
    } catch {
      // The program has exited meanwhile.
    }
  }
}
