// What the machine's network interfaces and sockets show: counters, and the addresses that others may reach.
import { networkInterfaces } from 'node:os';
import { isPrivate } from '../core-guard/contract.js';
import { readProc } from './read-proc.js';

export interface NetworkTotals {
  readonly sent: number;
  readonly recv: number;
  readonly pktSent: number;
  readonly pktRecv: number;
}

/** Interfaces whose bytes are counted on another one, or never leave the machine. */
const NOT_COUNTED = /^(?:lo|docker|br-|veth|virbr|tun|tap|wg|tailscale|zt)/;
const UNKNOWN = 'N/A';

/** Sums the bytes and packets of external interfaces since the machine started. */
export async function networkTotals(): Promise<NetworkTotals> {
  const sum = { sent: 0, recv: 0, pktSent: 0, pktRecv: 0 };
  for (const line of (await readProc('net/dev')).split('\n').slice(2)) {
    const [name = '', figures = ''] = line.split(':');
    const columns = figures.trim().split(/\s+/).map(Number);
    if (name.trim() === '' || NOT_COUNTED.test(name.trim())) continue;
    sum.recv += columns[0] ?? 0;
    sum.pktRecv += columns[1] ?? 0;
    sum.sent += columns[8] ?? 0;
    sum.pktSent += columns[9] ?? 0;
  }
  return sum;
}

const linesOf = (text: string): number => Math.max(0, text.trim().split('\n').length - 1);

/** Counts the sockets of both address families. */
export const socketCount = async (kind: 'tcp' | 'udp'): Promise<number> =>
  linesOf(await readProc(`net/${kind}`)) + linesOf(await readProc(`net/${kind}6`));

/** Behind NAT no interface has a public address. Only a third party could name it, and the panel asks none. */
export function publicAddresses(interfaces = networkInterfaces()): { ipv4: string; ipv6: string } {
  const all = Object.values(interfaces).flatMap((list) => list ?? []);
  const first = (family: string) =>
    all.find((one) => one.family === family && !one.internal && !isPrivate(one.address))?.address ?? UNKNOWN;
  return { ipv4: first('IPv4'), ipv6: first('IPv6') };
}
