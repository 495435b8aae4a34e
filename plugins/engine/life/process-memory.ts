// Memory of a process, and how much there is.
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';

const KIB = 1024;

/** Resolves with the bytes of a process that are in RAM; undefined when it is gone. */
export async function residentBytes(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return found === undefined ? undefined : Number(found) * KIB;
}

/** Bytes of the machine, or of the limit of its container or service, which the core shares. */
export function availableBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
