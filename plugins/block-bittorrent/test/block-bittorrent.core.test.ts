// A real core: whether it passes on the first bytes of a BitTorrent connection.
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import test from 'ava';
import { startClientCore } from '../../engine/xray/test/traffic.js';
import { outboundOf } from '../../../test/demo/link-to-outbound.js';
import { engineBinary, openPanel } from '../../../test/engine/user.js';

/** BEP 3, "peer protocol": the handshake begins with these 20 bytes. */
const HANDSHAKE = Buffer.concat([Buffer.from('\x13BitTorrent protocol'), Buffer.alloc(48)]);
const GREETING = Buffer.from('hello, this is no peer of anybody, only a plain text of sixty bytes');

/** Sends bytes through the SOCKS port of a client program; resolves with what the server echoes, empty when the connection ends without. */
async function echoed(socksPort: number, port: number, bytes: Buffer): Promise<Buffer> {
  const socket = createConnection(socksPort, '127.0.0.1');
  const next = async (): Promise<Buffer> => {
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
    return Buffer.isBuffer(chunk) ? chunk : Buffer.alloc(0);
  };
  try {
    socket.write(Buffer.from([5, 1, 0]));
    await next();
    socket.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]));
    await next();
    socket.write(bytes);
    return await next();
  } finally {
    socket.destroy();
  }
}

test('a fresh panel refuses BitTorrent of its users, until the setting allows it', async (t) => {
  const echo = createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.teardown(() => echo.close());
  const { port } = echo.address() as AddressInfo;
  const panel = await openPanel(t);
  const id = await panel.addInbound({ sniffing: { enabled: true, destOverride: ['http', 'tls'] } });
  await panel.addClient('ada', [id]);
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/ada');
  const core = await startClientCore({ binary: engineBinary(), outbound: outboundOf(link).outbound });
  t.teardown(core.stop);

  t.deepEqual(await echoed(core.socksPort, port, GREETING), GREETING);
  t.is((await echoed(core.socksPort, port, HANDSHAKE)).length, 0, 'refused');
  await panel.get('/panel/api/setting/update', { body: { blockBitTorrent: false } });
  t.deepEqual(await echoed(core.socksPort, port, HANDSHAKE), HANDSHAKE);
});
