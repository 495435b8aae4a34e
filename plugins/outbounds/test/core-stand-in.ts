// A stand-in for the core: lets CONNECT requests out to loopback, whatever their host is.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';

const HEAD = /^CONNECT (\S+):(\d+) HTTP\/1\.1\r\n[\s\S]*\r\n\r\n$/;

/** @param reply the head that the core sends */
export async function openCore(t: ExecutionContext, reply = 'HTTP/1.1 200 Connection established\r\n\r\n') {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const socket = join(folder, 's');
  const open = new Set<Socket>();
  const hosts: string[] = [];
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => undefined).on('close', () => open.delete(client));
    client.once('data', (head: Buffer) => {
      const [, host = '', port] = HEAD.exec(head.toString()) ?? [];
      hosts.push(host);
      client.write(reply);
      if (!reply.includes(' 200 ')) return;
      const far = connect(Number(port), '127.0.0.1').on('error', () => client.destroy());
      client.on('close', () => far.destroy());
      client.pipe(far).pipe(client);
    });
  });
  server.listen(socket);
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return { socket, open, hosts };
}

export async function listen(t: ExecutionContext, server: Server, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return (server.address() as AddressInfo).port;
}
/** A server that answers each connection with these bytes. */
export const raw = (t: ExecutionContext, answer: (socket: Socket) => void): Promise<number> =>
  listen(
    t,
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => answer(socket));
    }),
  );
