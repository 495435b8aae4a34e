// A client of the plainest kind: VLESS over TCP is a head of 26 bytes, so one process here can be ten thousand users.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';

const HOST = '127.0.0.1';
/** Before the bytes of the other side: version, and the length of nothing. */
const REPLY_HEAD = 2;
const AT_ONCE = 64;
const LIMIT_MS = 20_000;

/** A server on loopback that gives back what it gets. */
export async function echoServer(): Promise<{ port: number; stop: () => void }> {
  const server: Server = createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket));
  server.listen(0, HOST);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, stop: () => void server.close() };
}

const head = (uuid: string, port: number): Buffer =>
  Buffer.concat([
    Buffer.from([0]),
    Buffer.from(uuid.replaceAll('-', ''), 'hex'),
    Buffer.from([0, 1, port >> 8, port & 255, 1, ...HOST.split('.').map(Number)]),
  ]);

export interface Way {
  /** of the inbound: vless over tcp, without security */
  readonly inboundPort: number;
  /** of the echo server */
  readonly echoPort: number;
}

/** Sends `bytes` through the core and resolves with whether they came back within the limit. */
export async function echoed({ inboundPort, echoPort }: Way, uuid: string, bytes: number, limit = LIMIT_MS) {
  const socket = connect(inboundPort, HOST);
  const came = new Promise<boolean>((resolve) => {
    let left = REPLY_HEAD + bytes;
    const timer = setTimeout(resolve, limit, false);
    socket.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) return;
      clearTimeout(timer);
      resolve(true);
    });
    for (const end of ['error', 'close'])
      socket.on(end, () => {
        clearTimeout(timer);
        resolve(false);
      });
  });
  socket.write(Buffer.concat([head(uuid, echoPort), Buffer.alloc(bytes, 0x77)]));
  const result = await came;
  socket.destroy();
  return result;
}

/** Each of these users moves `bytes` up and as many down; resolves with how many did. */
export async function moveAll(way: Way, uuids: readonly string[], bytes: number): Promise<number> {
  let moved = 0;
  const waiting = [...uuids];
  const one = async () => {
    for (let uuid = waiting.pop(); uuid !== undefined; uuid = waiting.pop())
      if (await echoed(way, uuid, bytes)) moved++;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return moved;
}

/** Resolves with the ms until a new connection of this user is served, or refused. */
export async function until(way: Way, uuid: string, served: boolean, limit = 120_000): Promise<number> {
  const began = performance.now();
  for (;;) {
    const asked = performance.now() - began;
    // Who is refused is not always told; who is served is, at once.
    if ((await echoed(way, uuid, 1, 500)) === served) return served ? performance.now() - began : asked;
    if (asked > limit)
      throw new Error(`after ${limit} ms a client is still ${served ? 'refused' : 'served'}`);
  }
}
