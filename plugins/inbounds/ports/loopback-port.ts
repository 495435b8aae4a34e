// A free TCP port of this machine, for what the panel itself puts beside an inbound.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

const TRIES = 20;

/** Resolves with a port that is free on 127.0.0.1 now, and that `isTaken` does not name. */
export async function loopbackPort(isTaken: (port: number) => boolean): Promise<number> {
  for (let i = 0; i < TRIES; i++) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    if (!isTaken(port)) return port;
  }
  throw new Error('no port of this machine is free');
}
