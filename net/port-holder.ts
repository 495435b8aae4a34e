// Finds the process that listens on a port. Works where /proc exists (Linux); other users' processes are visible to root only.
import { readdir, readFile, readlink } from 'node:fs/promises';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENING = '0A';

/** Text for messages, e.g. `nginx (process 812)`; undefined where the process cannot be found. */
export async function portHolder(port: number): Promise<string | undefined> {
  const sockets = new Set<string>();
  for (const table of TABLES) {
    const text = await readFile(table, 'utf8').catch(() => '');
    for (const line of text.split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === LISTENING && Number.parseInt(local.split(':')[1] ?? '', 16) === port)
        sockets.add(`socket:[${inode}]`);
    }
  }
  if (sockets.size === 0) return undefined;
  for (const pid of (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (!sockets.has(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''))) continue;
      const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
      return `${name.trim() || 'a program'} (process ${pid})`;
    }
  }
  return undefined;
}
