// Refuses ports that are taken. The core would not report them: it shares ports silently (SO_REUSEPORT).
import { createServer } from 'node:net';
import { canonicalAddress } from '../../kernel/index.js';
import { errors } from './errors.js';
import type { Inbound } from './schema.js';

type Place = Pick<Inbound, 'listen' | 'port'>;
const EVERYWHERE = new Set(['', '0.0.0.0', '::']);

/** Returns one spelling for each address: IPv6 has many, and the core reads localhost as 127.0.0.1. */
function addressOf(listen: string): string {
  const name = listen.toLowerCase();
  if (name === 'localhost') return '127.0.0.1';
  return canonicalAddress(name) ?? name;
}

export function samePlace(a: Place, b: Place): boolean {
  const [one, other] = [addressOf(a.listen), addressOf(b.listen)];
  return a.port === b.port && (one === other || EVERYWHERE.has(one) || EVERYWHERE.has(other));
}

/** Throws PORT_TAKEN with the other inbound's name. Disabled ones count: they may be enabled at any time. */
export function refuseTakenPort(
  others: readonly (Place & Pick<Inbound, 'id' | 'remark' | 'tag'>)[],
  wanted: Place,
): void {
  const other = others.find((candidate) => samePlace(candidate, wanted));
  if (other)
    throw errors.PORT_TAKEN(
      `port ${wanted.port} is taken by inbound #${other.id} (${other.remark || other.tag}) on ${other.listen || '*'}`,
      { path: 'port' },
    );
}

/** Throws PORT_IN_USE when another program listens there, or when this machine does not have the address. */
export async function refusePortInUse({ listen, port }: Place): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen({ port, host: listen || '0.0.0.0', exclusive: true }, resolve),
    );
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw errors.PORT_IN_USE(`another program listens on ${listen || '*'}:${port}`, {
        path: 'port',
        cause,
      });
    if (code === 'EACCES')
      throw errors.PORT_IN_USE(`this process may not listen on port ${port}`, { path: 'port', cause });
    throw errors.PORT_IN_USE(`the core cannot listen on ${listen}: ${message}`, { path: 'listen', cause });
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}
