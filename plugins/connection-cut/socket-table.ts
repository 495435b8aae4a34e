// Reads the Linux kernel's table of TCP sockets for some local ports, as a file: starting a program costs more.
import { createReadStream } from 'node:fs';
import { HEX, MAPPED } from './address.js';

const portHex = (port: number): string => `${HEX[port >> 8] ?? '00'}${HEX[port & 255] ?? '00'}`;

/** A connection by its ends, seen from here, e.g. `0100007F:EDA4>01BB`. The local address is not needed: no client connects twice from one port to one port. */
export const socketKey = (spelt: string, port: number, localPort: number): string =>
  `${spelt}:${portHex(port)}>${portHex(localPort)}`;
export const addressIn = (key: string): string => key.slice(0, key.indexOf(':'));
export const portIn = (key: string): number => Number.parseInt(key.slice(-9, -5), 16);
export const localPortIn = (key: string): number => Number.parseInt(key.slice(-4), 16);

/** socketKey → inode, unique to each socket */
export type SocketTable = ReadonlyMap<string, number>;

/** ESTABLISHED, and CLOSE_WAIT: the peer sends no more but still receives. */
const OPEN = new Set(['01', '08']);
/** queues, timer, retransmits, user, timeout, inode */
const INODE = / \S+ \S+ \S+ +\d+ +\d+ (\d+)/y;

interface Table {
  readonly path: string;
  /** digits of an address */
  readonly width: number;
}
const TABLES: readonly Table[] = [
  { path: '/proc/net/tcp', width: 8 },
  { path: '/proc/net/tcp6', width: 32 },
];

/** Rows look like `  2: 0100007F:1F90 0100007F:EDA4 01 00000000:00000000 00:00000000 00000000     0        0 289100 2 …`. */
function addRows(text: string, width: number, ports: ReadonlySet<string>, into: Map<string, number>): void {
  for (let begin = 0, end = text.indexOf('\n'); end >= 0; begin = end + 1, end = text.indexOf('\n', begin)) {
    const local = text.indexOf(': ', begin) + 2;
    const remote = local + width + 6;
    const state = remote + width + 6;
    const localPort = text.slice(remote - 5, remote - 1);
    if (!ports.has(localPort) || !OPEN.has(text.slice(state, state + 2))) continue;
    INODE.lastIndex = state + 2;
    const [, inode = '0'] = INODE.exec(text) ?? [];
    // A socket that the core has not accepted yet has none.
    if (inode === '0') continue;
    const peer = text.slice(remote, state - 1);
    into.set(`${peer.startsWith(MAPPED) ? peer.slice(MAPPED.length) : peer}>${localPort}`, Number(inode));
  }
}

async function readTable(
  { path, width }: Table,
  ports: ReadonlySet<string>,
  into: Map<string, number>,
): Promise<void> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1' }) as AsyncIterable<string>) {
    const text = rest + chunk;
    const whole = text.lastIndexOf('\n') + 1;
    addRows(text.slice(0, whole), width, ports, into);
    rest = text.slice(whole);
  }
}

/** Open connections to these ports of this machine. */
export async function readSockets(localPorts: ReadonlySet<number>): Promise<SocketTable> {
  const into = new Map<string, number>();
  const ports = new Set([...localPorts].map(portHex));
  for (const table of TABLES) {
    await readTable(table, ports, into).catch((error: NodeJS.ErrnoException) => {
      // A machine without IPv6 has no such table.
      if (error.code !== 'ENOENT' || table.width === 8) throw error;
    });
  }
  return into;
}
