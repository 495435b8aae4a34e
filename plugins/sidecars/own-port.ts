// Ports on 127.0.0.1 that a program has for itself: whether another program sits there, which would get the secret.
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { listensOn, type Probe } from '../processes/contract.js';

const LISTENS = '0A';
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const MOST_FILES = 65_536;

/** Whether a program listens there. */
export async function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  } finally {
    server.close();
  }
}

/** Inodes of the sockets that listen on the port; undefined where the tables cannot be read. */
async function listeners(port: number): Promise<ReadonlySet<string> | undefined> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const found = new Set<string>();
  let isReadable = false;
  for (const path of TABLES) {
    const table = await readFile(path, 'utf8').catch(() => undefined);
    isReadable ||= table !== undefined;
    for (const line of table?.split('\n').slice(1) ?? []) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTENS && local.endsWith(ending)) found.add(`socket:[${inode}]`);
    }
  }
  return isReadable ? found : undefined;
}

/** The session of a process: a program that the panel starts has one of its own, with all of its children. */
async function sessionOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3] ?? 0);
}

async function holds(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const file of (await readdir(folder).catch(() => [])).slice(0, MOST_FILES)) {
    const target = await readlink(`${folder}/${file}`).catch(() => '');
    if (sockets.has(target)) return true;
  }
  return false;
}

/** Whether the socket that listens there is that of the process, or of one that it started. True where this cannot be seen. */
async function isOwn(pid: number, port: number): Promise<boolean> {
  const sockets = await listeners(port);
  if (sockets === undefined || (await holds(pid, sockets))) return true;
  if ((await readdir(`/proc/${pid}/fd`).catch(() => undefined)) === undefined) return true;
  for (const name of await readdir('/proc')) {
    const other = Number(name);
    if (other > 0 && other !== pid && (await sessionOf(other)) === pid && (await holds(other, sockets)))
      return true;
  }
  return false;
}

/** The process itself listens on the port: another program there would be given the secret and the users. */
export const servesOn = (port: number): Probe => {
  const listens = listensOn({ port });
  return async (probed) => {
    if (!(await listens(probed))) return false;
    if (await isOwn(probed.pid, port)) return true;
    throw new Error(`another program listens on its port 127.0.0.1:${port}`);
  };
};
