// Whether a UDP port is free: the program only logs that it is not.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const FAMILIES = [
  ['udp4', '0.0.0.0'],
  ['udp6', '::'],
] as const;

/** Resolves with why the port cannot be used; undefined when it can. */
export async function udpPortProblem(port: number): Promise<string | undefined> {
  for (const [type, address] of FAMILIES) {
    const socket = createSocket(type === 'udp6' ? { type, ipv6Only: true } : { type });
    try {
      const listening = once(socket, 'listening');
      socket.bind({ port, address, exclusive: true });
      await listening;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A machine without IPv6.
      if (code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL') continue;
      return code === 'EADDRINUSE'
        ? `UDP port ${port} is in use by another program; stop it, or give the inbound another port`
        : `UDP port ${port} cannot be opened: ${code ?? (error as Error).message}`;
    } finally {
      socket.close();
    }
  }
  return undefined;
}
