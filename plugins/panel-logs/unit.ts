// The unit of systemd that this process belongs to.
import { readFile } from 'node:fs/promises';

export interface Unit {
  readonly name: string;
  /** of the service manager of a user */
  readonly isOfUser: boolean;
}

/** Finds the unit in a line of /proc/<pid>/cgroup, such as `0::/system.slice/weir.service`; a scope is no service. */
export function unitIn(cgroup: string): Unit | undefined {
  const path = cgroup
    .split('\n')
    .map((line) => line.split(':').slice(2).join(':'))
    .find((one) => one.includes('.service') || one.includes('.scope'));
  const parts = path?.split('/') ?? [];
  const own = parts.findLastIndex((part) => /\.(?:service|scope)$/.test(part));
  const name = parts[own] ?? '';
  // Names have no other characters (systemd.unit); the name becomes an argument.
  if (!/^[A-Za-z0-9:_.\\@][A-Za-z0-9:_.\\@-]*\.service$/.test(name) || name.startsWith('user@'))
    return undefined;
  return { name, isOfUser: parts.slice(0, own).some((part) => part.startsWith('user@')) };
}

/** Undefined where the panel does not run as a service. */
export const ownUnit = async (file = '/proc/self/cgroup'): Promise<Unit | undefined> =>
  unitIn(await readFile(file, 'utf8').catch(() => ''));
