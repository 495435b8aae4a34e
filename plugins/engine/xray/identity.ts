// Which process is which: a pid alone may have been given to another program since.
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessIdentity {
  readonly pid: number;
  /** clock ticks between boot and the process's start, field 22 of /proc/PID/stat */
  readonly startTicks: string;
  /** /proc/sys/kernel/random/boot_id */
  readonly bootId: string;
}

/** States of a process that has ended but was not waited for. */
const DEAD = new Set(['Z', 'X', 'x']);

function readStat(pid: number): { state: string; startTicks: string } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // the second field is the program's name in parentheses and may itself hold spaces and parentheses
  const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, startTicks: rest[18] ?? '' };
}

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** Also finds a child that ended and was not waited for yet. */
export function identify(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat && { pid, startTicks: stat.startTicks, bootId: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const stat = readStat(identity.pid);
  return (
    stat !== undefined &&
    stat.startTicks === identity.startTicks &&
    !DEAD.has(stat.state) &&
    bootId() === identity.bootId
  );
}

/** A core's counters begin at zero with each new epoch. */
export const epochOf = ({ bootId, pid, startTicks }: ProcessIdentity): string =>
  `${bootId}:${pid}:${startTicks}`;

/** Arguments of a running process; empty when it is gone. */
export async function commandLine(pid: number): Promise<readonly string[]> {
  try {
    return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

/** Processes of this machine that were started with this argument. */
export async function processesWith(argument: string): Promise<ProcessIdentity[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => ((await commandLine(pid)).includes(argument) ? identify(pid) : undefined)),
  );
  return found.filter((identity) => identity !== undefined);
}
