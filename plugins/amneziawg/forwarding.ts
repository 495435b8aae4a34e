// Lets this machine pass on packets of clients (sysctl).
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { messageOf } from '../../kernel/index.js';
import { prefixV6Of, type ServerBlock, textIn } from './server-block.js';

const SYSCTL = '/proc/sys/net';
const ROUTES_V4 = '/proc/net/route';

/** Writes only what differs: in a container, these files may be readable only. */
async function turnOn(path: string, value: string): Promise<void> {
  const now = await readFile(path, 'utf8').catch(() => undefined);
  if (now?.trim() === value) return;
  const key = path.slice(SYSCTL.length - 'net'.length).replaceAll('/', '.');
  try {
    await writeFile(path, value);
  } catch (error) {
    throw new Error(
      `packets of clients cannot be passed on: ${messageOf(error)}; set ${key}=${value} yourself (a container: --sysctl)`,
      { cause: error },
    );
  }
}

const interfaces = (): Promise<string[]> => readdir('/sys/class/net').catch(() => []);

async function mustExist(server: ServerBlock, field: string): Promise<string | undefined> {
  const name = textIn(server, field);
  if (name === '') return undefined;
  if (!(await interfaces()).includes(name))
    throw new Error(`this machine has no interface ${name}; correct server.${field}, or leave it blank`);
  return name;
}

/** Interfaces with a default route of IPv4. */
async function defaultInterfaces(): Promise<string[]> {
  const table = await readFile(ROUTES_V4, 'utf8').catch(() => '');
  const found = table
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/))
    .filter(([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000')
    .map(([name = '']) => name);
  return [...new Set(found)];
}

/**
 * IPv4 is passed on by the tunnel and by the way out only, so that this machine does not become a router for its network;
 * by all interfaces where clients may reach private networks.
 */
async function forwardV4(device: string, server: ServerBlock, openPrivate: boolean): Promise<void> {
  if (openPrivate) return turnOn(`${SYSCTL}/ipv4/conf/all/forwarding`, '1');
  const out = await mustExist(server, 'externalInterface');
  for (const name of [device, ...(out === undefined ? await defaultInterfaces() : [out])])
    await turnOn(`${SYSCTL}/ipv4/conf/${name}/forwarding`, '1');
}

/** IPv6 knows only all or nothing, and stops listening to routers then unless told otherwise. */
async function forwardV6(server: ServerBlock): Promise<void> {
  await mustExist(server, 'ipv6ExternalInterface');
  if (prefixV6Of(server) === undefined) return;
  const all = `${SYSCTL}/ipv6/conf/all/forwarding`;
  if ((await readFile(all, 'utf8').catch(() => '')).trim() === '1') return;
  for (const name of await interfaces()) {
    const path = `${SYSCTL}/ipv6/conf/${name}/accept_ra`;
    if ((await readFile(path, 'utf8').catch(() => '')).trim() === '1') await turnOn(path, '2');
  }
  await turnOn(all, '1');
}

/** Rejects with what an admin must do. It is never turned off again: others may need it by then. */
export async function turnOnForwarding(
  device: string,
  server: ServerBlock,
  openPrivate: boolean,
): Promise<void> {
  await forwardV4(device, server, openPrivate);
  await forwardV6(server);
}
