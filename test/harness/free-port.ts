// Ports for tests.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below those of outgoing connections (from 32,768 on Linux): one of these would be taken now and then until it is used. */
const [FIRST_PORT, PORTS] = [10_000, 22_768];
/** Processes begin far from each other. */
let nextPort = process.pid * 137;

const bindsTcp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
const bindsUdp = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
      .once('error', () => resolve(false))
      .bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });

/** A port that is free now, for TCP and UDP, and that nobody in this process was given before. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS; tried++) {
    const port = FIRST_PORT + (nextPort++ % PORTS);
    if ((await bindsTcp(port)) && (await bindsUdp(port))) return port;
  }
  throw new Error(`no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1} is free`);
}
