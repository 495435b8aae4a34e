// TLS connections of plugins that look at a server's certificate.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { selfSigned } from '../../../test/harness/self-signed.js';
import type { HandshakeOptions } from '../contract.js';
import { AT_ONCE } from '../quota.js';
import { callsOf, failure, nameServer, type World } from './world.js';

async function serve(t: ExecutionContext) {
  const { cert, key } = selfSigned('site.example.com');
  const names: unknown[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    sockets.add(socket);
    names.push(socket.servername);
    socket.write('welcome');
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, names, sockets };
}

const shake = (world: World, server: string, options?: HandshakeOptions) => {
  const { calls, access } = callsOf(world);
  return calls.handshake(access, server, options);
};
const { resolve } = nameServer({ 'site.example.com': ['127.0.0.1'] });
const HOSTS = ['site.example.com', '127.0.0.1', '::1'];

test('a handshake succeeds with any certificate, by name and by address, and shows it', async (t) => {
  const { port, names, sockets } = await serve(t);
  for (const server of [`site.example.com:${port}`, `127.0.0.1:${port}`]) {
    const socket = await shake({ hosts: HOSTS, resolve }, server, { ALPNProtocols: ['h2'] });
    t.false(socket.authorized);
    t.is(socket.getPeerX509Certificate()?.checkHost('site.example.com'), 'site.example.com');
    t.is(socket.alpnProtocol, 'h2');
    t.is(String(await once(socket, 'data')), 'welcome');
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
  }
  t.deepEqual(names, ['site.example.com', false], 'an address is no server name');
  t.true(sockets.size <= 1);
});

test('a handshake goes through the proxy', async (t) => {
  const { port } = await serve(t);
  const asked: string[] = [];
  const proxy = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      asked.push(String(head).split('\r\n')[0] ?? '');
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => proxy.close());
  const via = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const socket = await shake({ hosts: HOSTS, resolve, proxy: via }, `site.example.com:${port}`);
  t.true(socket.encrypted);
  socket.destroy();
  t.deepEqual(asked, [`CONNECT site.example.com:${port} HTTP/1.1`]);
});

test('private addresses, other hosts and what is no server are refused', async (t) => {
  const { port } = await serve(t);
  const hosts = { hosts: HOSTS, resolve, allow: [] };
  for (const [world, server, code, says] of [
    [hosts, `site.example.com:${port}`, 'address', /site\.example\.com leads to 127\.0\.0\.1/],
    [hosts, `127.0.0.1:${port}`, 'address', /an address of this machine/],
    [hosts, '::1', 'address', /\[::1\]:443 is an address of this machine/],
    [hosts, 'other.example.com', 'host', /is not among the hosts/],
    [hosts, 'site.example.com/path', 'url', /is no host with a port/],
    [hosts, 'user@site.example.com', 'url', /is no host with a port/],
    [hosts, '', 'url', /absolute/],
    [{ hosts: HOSTS, ownPorts: [port] }, `127.0.0.1:${port}`, 'address', /the panel's own listener/],
  ] as const) {
    const error = await failure(shake(world, server));
    t.is(error.code, code, server);
    t.regex(error.message, says);
  }
});

test('a server that says nothing, ends, or speaks something else costs a sentence, and the slot comes back', async (t) => {
  const sockets = new Set<Socket>();
  const strange = async (answer: (socket: Socket) => void): Promise<string> => {
    const server = createTcpServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      answer(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const { calls, access } = callsOf({});
  const call = (server: string, limits = {}) => failure(calls.handshake(access, server, { limits }));
  const silent = await strange(() => undefined);
  for (let i = 0; i <= AT_ONCE; i++) {
    const late = await call(silent, { connectMs: 30 });
    t.is(late.code, 'time');
    t.regex(late.message, /did not finish its handshake within 0.03 s/);
  }
  t.is((await call(await strange((socket) => socket.end()))).code, 'network');
  t.is((await call(await strange((socket) => socket.end('SSH-2.0-x\r\n')))).code, 'network');
  t.is((await call('127.0.0.1:1')).code, 'network');
  const { port } = await serve(t);
  const open = await calls.handshake(access, `127.0.0.1:${port}`, { limits: { wholeMs: 200 } });
  await once(open, 'close');
  t.pass('a socket that nobody destroys ends with the call');
});

test('a server that sends without end before its handshake is over is cut off', async (t) => {
  // OpenSSL skips empty requests for another hello (type 0, length 0) in any number.
  const requests = Buffer.concat([Buffer.from([22, 3, 3, 64, 0]), Buffer.alloc(16_384)]);
  const server = createTcpServer((socket) => {
    const more = (): void => {
      if (socket.destroyed) return;
      if (socket.write(requests)) setImmediate(more);
      else socket.once('drain', more);
    };
    socket.on('error', () => undefined).once('data', more);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { calls, access } = callsOf({});
  const start = performance.now();
  const error = await failure(calls.handshake(access, place, { limits: { maxBytes: 100_000 } }));
  t.is(error.code, 'size');
  t.regex(error.message, /sent more than 100000 bytes in its handshake \(maxBytes\)/);
  t.true(performance.now() - start < 5000);
  const { port } = await serve(t);
  const small = await failure(calls.handshake(access, `127.0.0.1:${port}`, { limits: { maxBytes: 300 } }));
  t.is(small.code, 'size', 'also if it is over between two looks');
});
