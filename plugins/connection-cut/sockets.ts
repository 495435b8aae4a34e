// Closes connections of another process: with CAP_NET_ADMIN the Linux kernel does it, through `ss -K`.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, isIP, type Socket } from 'node:net';
import { messageOf } from '../../kernel/index.js';
import { spell, written } from './address.js';
import { addressIn, localPortIn, portIn, readSockets, socketKey, type SocketTable } from './socket-table.js';

/** Replaced in tests. */
export interface SocketsApi {
  read(localPorts: ReadonlySet<number>): Promise<SocketTable>;
  /** Closes the connections of these keys and resolves with their number. */
  close(keys: readonly string[]): Promise<number>;
  /** Resolves with the reason why connections cannot be closed here, or ''. Never rejects. Tries it on a connection of its own. */
  obstacle(): Promise<string>;
}

export interface Place {
  readonly address: string;
  readonly port: number;
}

const AT_ONCE = 200;
const LIMIT_MS = 5_000;
const CAP_NET_ADMIN = 1n << 12n;
// PATH of a service may lack these.
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`;

/** Names both ends in full: a shorter filter would close connections of others. TCP only: for UDP it would close the listener. */
export const filterOf = (keys: readonly string[]): string =>
  keys
    .map(
      (key) =>
        `( sport = :${localPortIn(key)} and dst [${written(addressIn(key))}] and dport = :${portIn(key)} )`,
    )
    .join(' or ');

const EVERYWHERE = new Set(['0.0.0.0', '::']);
export const placesFilterOf = (places: readonly Place[]): string =>
  places
    .map(({ address, port }) =>
      isIP(address) === 0 || EVERYWHERE.has(address)
        ? `sport = :${port}`
        : `( src [${address}] and sport = :${port} )`,
    )
    .join(' or ');

function ss(filter: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'ss',
      ['-K', '-t', '-H', '-n', 'state', 'established', 'state', 'close-wait', filter],
      { timeout: LIMIT_MS, env: { PATH, LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        if (error)
          reject(
            new Error(
              (error as NodeJS.ErrnoException).code === 'ENOENT'
                ? 'the program ss is missing; install iproute2'
                : stderr.trim() || error.message,
            ),
          );
        else resolve(stdout);
      },
    );
  });
}

async function inBatches<T>(all: readonly T[], filter: (batch: readonly T[]) => string): Promise<number> {
  let closed = 0;
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const output = await ss(filter(all.slice(at, at + AT_ONCE)));
    closed += output.split('\n').length - 1;
  }
  return closed;
}

async function mayAdministrate(): Promise<boolean> {
  const [, hex = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile('/proc/self/status', 'utf8')) ?? [];
  return (BigInt(`0x${hex}`) & CAP_NET_ADMIN) !== 0n;
}

export class Sockets implements SocketsApi {
  read(localPorts: ReadonlySet<number>): Promise<SocketTable> {
    return readSockets(localPorts);
  }

  close(keys: readonly string[]): Promise<number> {
    return inBatches(keys, filterOf);
  }
  /** Closes all connections to these local addresses; a name in place of an address stands for all. */
  closeAt(places: readonly Place[]): Promise<number> {
    return inBatches(places, placesFilterOf);
  }

  async obstacle(): Promise<string> {
    try {
      if (!(await mayAdministrate())) return 'the panel lacks the right CAP_NET_ADMIN';
      return (await this.#closesItsOwn())
        ? ''
        : 'this kernel cannot close connections (it is built without INET_DIAG_DESTROY)';
    } catch (error) {
      return `a connection of its own could not be closed: ${messageOf(error)}`;
    }
  }

  async #closesItsOwn(): Promise<boolean> {
    const server = createServer().listen(0, '127.0.0.1');
    const ours: Socket[] = [];
    try {
      await once(server, 'listening');
      const { port: localPort } = server.address() as AddressInfo;
      const client = connect(localPort, '127.0.0.1').on('error', () => undefined);
      ours.push(client);
      const signal = AbortSignal.timeout(LIMIT_MS);
      const [[taken]] = await Promise.all([
        once(server, 'connection', { signal }) as Promise<[Socket]>,
        once(client, 'connect', { signal }),
      ]);
      ours.push(taken.on('error', () => undefined));
      await this.close([socketKey(spell('127.0.0.1') ?? '', client.localPort ?? 0, localPort)]);
      return (await this.read(new Set([localPort]))).size === 0;
    } finally {
      for (const socket of ours) socket.destroy();
      server.close();
    }
  }
}
