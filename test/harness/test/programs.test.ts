// What tests with programs rely on: ports that stay free, and programs that serve.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { passes } from '../client-program.js';
import { freePort } from '../free-port.js';

async function listening(t: ExecutionContext, server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('a port is given once, is not taken, and no outgoing connection gets it', async (t) => {
  const first = await freePort();
  await listening(t, createServer(), first + 1);
  const second = await freePort();
  t.not(second, first);
  t.not(second, first + 1);
  for (const port of [first, second]) t.true(port < 32_768, String(port));
});

test('a proxy that accepts, agrees and closes does not pass bytes', async (t) => {
  const port = await listening(
    t,
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(Buffer.from([5, 0]));
        socket.once('data', () => socket.end(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
      });
    }),
  );
  t.false(await passes(port));
  t.false(await passes(await freePort()));
});
