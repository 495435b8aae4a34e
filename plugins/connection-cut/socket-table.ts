// The kernel's table of TCP sockets, as far as it concerns some local ports. Read as a file: no program is started for it.
import { createReadStream } from 'node:fs';
import { spellWords } from './address.js';

/** A connection by its ends, seen from here. The local address is left out: nobody connects twice from one port to one port. */
export const socketKey = (address: string, port: number, localPort: number): string => `${address}:${port}>${localPort}`;

/** socketKey → inode, which is another one for each socket */
export type SocketTable = ReadonlyMap<string, number>;

/** ESTABLISHED, and CLOSE_WAIT: the peer says no more and may still be sent to. */
const OPEN = new Set(['01', '08']);
const portText = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

/** One row, e.g. `  2: 0100007F:1F90 0100007F:EDA4 01 00000000:00000000 00:00000000 00000000     0        0 289100 2 …`. */
function addRow(row: string, ports: ReadonlySet<string>, into: Map<string, number>): void {
  const local = row.indexOf(': ') + 2;
  const remote = row.indexOf(' ', local) + 1;
  const localPort = row.slice(remote - 5, remote - 1);
  if (local < 2 || !ports.has(localPort)) return;
  const [peer = '', state = '', , , , , , inode = ''] = row.slice(remote).split(/ +/, 8);
  // A socket that the core has not taken yet has no inode.
  if (!OPEN.has(state) || inode === '0') return;
  const colon = peer.indexOf(':');
  into.set(socketKey(spellWords(peer.slice(0, colon)), Number.parseInt(peer.slice(colon + 1), 16), Number.parseInt(localPort, 16)), Number(inode));
}

async function readTable(path: string, ports: ReadonlySet<string>, into: Map<string, number>): Promise<void> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1' }) as AsyncIterable<string>) {
    const rows = (rest + chunk).split('\n');
    rest = rows.pop() ?? '';
    for (const row of rows) addRow(row, ports, into);
  }
}

/** Open connections to these ports of this machine. */
export async function readSockets(localPorts: ReadonlySet<number>): Promise<SocketTable> {
  const table = new Map<string, number>();
  const ports = new Set([...localPorts].map(portText));
  await readTable('/proc/net/tcp', ports, table);
  // A machine without IPv6 has no such file.
  await readTable('/proc/net/tcp6', ports, table).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  return table;
}
