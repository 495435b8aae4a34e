// TLS with real certificates, directly and through a tunnel.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { type AddressInfo, connect, createServer as createProxy, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { selfSigned } from '../../../test/harness/self-signed.js';

const ENTRY = fileURLToPath(new URL('./tls-entry.js', import.meta.url));

async function world(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const pair = selfSigned('panel.example.com');
  const authority = join(folder, 'ca.pem');
  await writeFile(authority, pair.cert);
  const server = createServer({ cert: pair.cert, key: pair.key }, (request, response) =>
    response.end(`secure ${request.headers.host}`),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const call = async (trusted: boolean, host: string, proxy = ''): Promise<string> => {
    const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env;
    const env = { ...rest, ...(trusted && { NODE_EXTRA_CA_CERTS: authority }) };
    const url = `https://${host}:${port}/`;
    return (await promisify(execFile)(process.execPath, [ENTRY, url, proxy], { env })).stdout;
  };
  return { port, call };
}

test('a certificate counts for the name that was called, directly and through a proxy', async (t) => {
  const { port, call } = await world(t);
  const sockets = new Set<Socket>();
  const proxy = createProxy((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  for (const way of ['', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`]) {
    t.is(await call(true, 'panel.example.com', way), `secure panel.example.com:${port}`);
    t.regex(await call(false, 'panel.example.com', way), /cannot be reached: self[- ]signed certificate/);
    t.regex(await call(true, 'other.example.com', way), /cannot be reached: Hostname\/IP does not match/);
  }
});
