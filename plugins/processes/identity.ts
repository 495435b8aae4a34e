// Identifies processes: a pid alone may belong to another program later.
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

export interface ProcessIdentity {
  readonly pid: number;
  /** clock ticks between boot and the process's start, field 22 of /proc/PID/stat */
  readonly startTicks: string;
  /** /proc/sys/kernel/random/boot_id */
  readonly bootId: string;
}

/** States of a process that has exited but was not waited for. */
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

/** Also finds a child that exited and was not waited for yet. */
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

/** Arguments of a running process; empty if it has exited. */
export async function commandLine(pid: number): Promise<readonly string[]> {
  return (await listIn(`/proc/${pid}/cmdline`)) ?? [];
}

/** Reads a file in /proc with strings that end with a zero byte; undefined if it cannot be read. */
async function listIn(path: string): Promise<readonly string[] | undefined> {
  try {
    return (await readFile(path, 'utf8')).split('\0').slice(0, -1);
  } catch {
    return undefined;
  }
}

/** The mark of the processes of one slot. */
export interface Mark {
  /** `NAME=value`, which only they and their children have in their environment */
  readonly variable: string;
  /** an argument that only they have */
  readonly argument?: string | undefined;
}

/**
 * Whether a process was started with this mark. The environment decides. Linux hides it when a program gained
 * capabilities and we are not root; the arguments, which everybody may read, decide then. Undefined when nothing does.
 */
export async function carries(pid: number, { variable, argument }: Mark): Promise<boolean | undefined> {
  const environment = await listIn(`/proc/${pid}/environ`);
  if (environment !== undefined) return environment.includes(variable);
  return argument === undefined ? undefined : (await commandLine(pid)).includes(argument);
}

/** Processes of this machine that carry the mark. */
export async function processesWith(mark: Mark): Promise<ProcessIdentity[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Read the identity first: it belongs to the process whose mark is read next, or to no process any more.
      const identity = identify(pid);
      return identity && (await carries(pid, mark)) && isAlive(identity) ? identity : undefined;
    }),
  );
  return found.filter((identity) => identity !== undefined);
}
