// What the system knows of a process: CPU time, memory now, and the most it ever had.
import { readFile, writeFile } from 'node:fs/promises';

const TICK_US = 10_000;

/** CPU time so far, all threads, in µs; what a process did for one request says more on a busy machine than how many it answered. */
export async function cpuOf(pid: number): Promise<number> {
  const [, figures = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
  const [user, system] = figures.split(' ').slice(11, 13).map(Number);
  return TICK_US * ((user ?? 0) + (system ?? 0));
}

/** CPU time of the main thread so far, in ms: what a machine with other work says most reliably. */
export const mainThreadOf = async (pid: number): Promise<number> =>
  Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;

export interface Memory {
  /** MiB */
  readonly now: number;
  /** MiB, since the start or the last `forgetPeak` */
  readonly peak: number;
}

export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** The peak begins again at what the process has now. */
export const forgetPeak = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5');
