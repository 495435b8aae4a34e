// Whether this machine lets the panel make network interfaces.
import { access, constants, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { searchPath } from '../processes/contract.js';

const NET_ADMIN = 12n;
const TUN = '/dev/net/tun';
const RUN = ['/var/run/amneziawg', '/var/run'];

/** Places of what is looked at; others in tests. */
export interface Machine {
  readonly platform: string;
  readonly status: string;
  readonly tun: string;
  readonly run: readonly string[];
  readonly path: () => string;
}
const THIS: Machine = {
  platform: process.platform,
  status: '/proc/self/status',
  tun: TUN,
  run: RUN,
  path: searchPath,
};

const allows = (path: string, mode: number): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );

async function isProgram(name: string, path: string): Promise<boolean> {
  for (const folder of path.split(delimiter))
    if (folder !== '' && (await allows(join(folder, name), constants.X_OK))) return true;
  return false;
}

/** What a child has: root's children get all of the capabilities, others only the ambient ones. */
function hasNetAdmin(status: string): boolean {
  const of = (name: string): string => new RegExp(`^${name}:\\s*(.+)$`, 'm').exec(status)?.[1]?.trim() ?? '';
  const isRoot = of('Uid').split(/\s+/)[1] === '0';
  const set = of(isRoot ? 'CapEff' : 'CapAmb');
  return /^[\da-f]+$/.test(set) && ((BigInt(`0x${set}`) >> NET_ADMIN) & 1n) === 1n;
}

/** Returns why no interface can be made, with the way out; undefined when it can. */
export async function rightsProblem(machine: Partial<Machine> = {}): Promise<string | undefined> {
  const { platform, status, tun, run, path } = { ...THIS, ...machine };
  if (platform !== 'linux') return `AmneziaWG runs on Linux only, and this is ${platform}`;
  const facts = await readFile(status, 'utf8').catch(() => '');
  if (!hasNetAdmin(facts))
    return 'the panel lacks the right CAP_NET_ADMIN; run it as root, or give its service AmbientCapabilities=CAP_NET_ADMIN (a container: --cap-add NET_ADMIN)';
  if (!(await allows(tun, constants.R_OK | constants.W_OK)))
    return `the device ${tun} is missing or not accessible; load the module tun (a container: --device ${tun})`;
  let canWrite = false;
  for (const folder of run) canWrite ||= await allows(folder, constants.W_OK);
  if (!canWrite)
    return `the panel cannot write to ${run[0]}, where the control sockets are; create the folder for the user of the panel`;
  for (const [name, pack] of [
    ['ip', 'iproute2'],
    ['nft', 'nftables'],
  ] as const)
    if (!(await isProgram(name, path())))
      return `the program ${name} is missing; install the package ${pack}`;
  return undefined;
}
