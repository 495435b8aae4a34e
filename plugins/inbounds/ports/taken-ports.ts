// Refuses ports and sockets that are taken. The core would not report them: it shares ports silently (SO_REUSEPORT).
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, isIPv6 } from 'node:net';
import { isSocket, socketName } from '../../core-guard/contract.js';
import type { ListenerPlacesApi } from '../../settings/contract.js';
import type { L4 } from '../contract.js';
import { errors } from '../errors.js';
import type { Inbound } from '../fields.js';
import { l4Name, overlaps, type Place } from './listening.js';

/** An inbound with what it listens on. */
export interface Listening {
  readonly inbound: Place & Pick<Inbound, 'id' | 'remark' | 'tag'>;
  readonly l4: readonly L4[];
}

const named = ({ id, remark, tag }: Listening['inbound']): string => `inbound #${id} (${remark || tag})`;

/** Throws PORT_TAKEN with the other inbound's name. Disabled ones count: they may be enabled at any time. `others` have the same place key. */
export function refuseTakenPort(others: readonly Listening[], wanted: Place, l4: readonly L4[]): void {
  for (const { inbound: other, l4: theirs } of others) {
    if (!overlaps(other, wanted)) continue;
    const socket = socketName(wanted.listen);
    if (socket !== undefined)
      throw errors.PORT_TAKEN(`the socket ${socket} is taken by ${named(other)}`, {
        path: 'listen',
      });
    const both = l4.filter((one) => theirs.includes(one));
    if (both.length > 0)
      throw errors.PORT_TAKEN(
        `port ${wanted.port} (${l4Name(both)}) is taken by ${named(other)} on ${other.listen || '*'}`,
        { path: 'port' },
      );
  }
}

/** Throws PORT_TAKEN for a port of the panel or of one of its listeners. They speak TCP: an inbound over UDP may have the same number. */
export function refusePanelPort(
  listeners: ListenerPlacesApi,
  { listen, port }: Pick<Place, 'listen' | 'port'>,
  l4: readonly L4[],
): void {
  if (isSocket(listen) || !l4.includes('tcp')) return;
  const owner = listeners.places().find((place) => place.port === port && port !== 0)?.name;
  if (owner !== undefined)
    throw errors.PORT_TAKEN(
      `port ${port} (tcp) is ${owner === 'panel' ? "the panel's own" : `that of the panel's listener ${owner}`}; choose another`,
      { path: 'port' },
    );
}

/** Throws PORT_IN_USE when somebody listens on this Unix socket. Abstract names are not looked at: older versions of Node pad them. */
export async function refuseSocketInUse(listen: string): Promise<void> {
  const socket = socketName(listen);
  if (socket === undefined || socket.startsWith('@')) return;
  const answers = await new Promise<boolean>((resolve) => {
    const connection = connect(socket);
    connection.once('error', () => resolve(false));
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
  });
  if (answers) throw errors.PORT_IN_USE(`another program listens on ${socket}`, { path: 'listen' });
}

async function listenTcp(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen({ port, host, exclusive: true }, resolve),
    );
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

async function listenUdp(host: string, port: number): Promise<void> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    // A host name is resolved here as well.
    const bound = once(socket, 'listening');
    socket.bind({ port, address: host, exclusive: true });
    await bound;
  } finally {
    await new Promise<void>((resolve) => socket.close(() => resolve()));
  }
}

/** Throws PORT_IN_USE when another program listens there, or when this machine does not have the address. */
export async function refusePortInUse(
  { listen, port }: Pick<Place, 'listen' | 'port'>,
  l4: readonly L4[],
): Promise<void> {
  for (const one of l4)
    try {
      await (one === 'tcp' ? listenTcp : listenUdp)(listen || '0.0.0.0', port);
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE')
        throw errors.PORT_IN_USE(`another program listens on ${listen || '*'}:${port} (${one})`, {
          path: 'port',
          cause,
        });
      if (code === 'EACCES')
        throw errors.PORT_IN_USE(`this process may not listen on port ${port}`, { path: 'port', cause });
      throw errors.PORT_IN_USE(`the core cannot listen on ${listen}: ${message}`, { path: 'listen', cause });
    }
}
