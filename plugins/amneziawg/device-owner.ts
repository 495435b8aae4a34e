// Whether a process holds a network interface: the socket beside it may be that of another panel.
import { readdir, readFile } from 'node:fs/promises';

const MOST_FILES = 4096;

/** Looks through the open files of the process for the device of this interface. */
export async function ownsInterface(pid: number, interfaceName: string): Promise<boolean> {
  const folder = `/proc/${pid}/fdinfo`;
  for (const file of (await readdir(folder)).slice(0, MOST_FILES)) {
    const facts = await readFile(`${folder}/${file}`, 'utf8').catch(() => '');
    if (facts.split('\n').includes(`iff:\t${interfaceName}`)) return true;
  }
  return false;
}
