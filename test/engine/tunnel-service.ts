// The tunnel service as a server of its own, for panels in a process of their own: behind a proxy, with a certificate that the
// panel is told to trust. The proxy leads everything else to where it goes.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { WarpApi } from '../../plugins/edgetunnel/test/warp-api.js';
import { issue } from '../harness/self-signed.js';
import type { Teardown } from './core-panel.js';

const HOST = 'api.cloudflareclient.com';

export interface TunnelServiceServer {
  readonly api: WarpApi;
  /** with which a panel reaches it */
  readonly env: Readonly<Record<string, string>>;
}

async function listen(t: Teardown, server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket.on('error', () => undefined));
    socket.once('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

export async function openTunnelService(t: Teardown): Promise<TunnelServiceServer> {
  const api = new WarpApi({ overNock: false });
  const authority = issue({ name: 'Test Trust', isAuthority: true });
  const { cert, key } = issue({ name: HOST, hosts: [HOST], issuer: authority });
  const service = createServer({ cert, key }, (request, reply) => {
    void text(request).then(async (body) => {
      const sent: unknown = body === '' ? '' : JSON.parse(body);
      const [status, answer] = await api.answer(
        request.method ?? '',
        request.url ?? '',
        request.headers,
        sent,
      );
      reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  const port = await listen(t, service);
  const proxy = createProxy().on('connect', ({ url = '' }, near: Socket) => {
    const { hostname, port: asked } = new URL(`http://${url}`);
    const far = hostname === HOST ? connect(port, '127.0.0.1') : connect(Number(asked), hostname);
    far.on('error', () => near.destroy()).on('close', () => near.destroy());
    near.on('error', () => far.destroy()).on('close', () => far.destroy());
    far.once('connect', () => near.write('HTTP/1.1 200 OK\r\n\r\n'));
    near.pipe(far).pipe(near);
  });
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const ca = join(folder, 'ca.pem');
  await writeFile(ca, authority.cert);
  const via = `http://127.0.0.1:${await listen(t, proxy)}`;
  return { api, env: { WEIR_OUTGOING_PROXY: via, NODE_EXTRA_CA_CERTS: ca } };
}
