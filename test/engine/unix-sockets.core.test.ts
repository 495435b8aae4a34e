// Inbounds on Unix sockets of a real core, reached through a program that forwards a port to them, as a reverse proxy does.
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { connect, counted, engineOf, MIB, openPanel, openServer, within } from './user.js';

/** Forwards a port of its own to the socket; resolves with the port. */
async function forward(t: ExecutionContext, socket: string): Promise<number> {
  const server = createServer((from) => {
    const to = connectTo(socket);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const)
      one.on('error', () => other.destroy()).pipe(other);
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('inbounds on a path and on an abstract socket carry bytes, also after the core was killed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-sock-'));
  await chmod(folder, 0o755);
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const server = await openServer(t);
  const panel = await openPanel(t, { env: { WEIR_SOCKET_DIRS: folder } });
  const path = join(folder, 'in.sock');
  // Node pads abstract names, as HAProxy does; `@@` is the core's word for that.
  const name = `@@weir-test-${process.pid}`;
  const ws = { network: 'ws', wsSettings: { path: '/x' } };
  const share = { shareAddr: '127.0.0.1', shareAddrStrategy: 'custom' };
  // The port of an inbound on a socket is that of its links.
  const onPath = await panel.addInbound({
    ...share,
    listen: `${path},0600`,
    port: await forward(t, path),
    streamSettings: ws,
  });
  const abstract = await panel.addInbound({
    ...share,
    listen: name,
    port: await forward(t, name.replace('@@', '\0')),
    protocol: 'trojan',
  });
  await panel.addClient('ada', [onPath, abstract]);
  t.is((await stat(path)).mode & 0o777, 0o600);
  const ways = [await connect(t, panel, 'ada', server, 0), await connect(t, panel, 'ada', server, 1)];
  for (const [i, way] of ways.entries()) t.is(await way.download(MIB), MIB, `way ${i}`);
  t.true(within(await counted(panel, 'ada', 2 * MIB), 2 * MIB));

  await panel.get(`/panel/api/inbounds/update/${onPath}`, { body: { sniffing: { enabled: true } } });
  t.is(await ways[0]?.download(1000), 1000, 'replaced while the core runs');
  const killed = (await panel.corePid()) as number;
  process.kill(killed, 'SIGKILL');
  await panel.until(async () => ![undefined, killed].includes(await panel.corePid()), 'a core runs again');
  for (const way of ways) await panel.until(() => way.served(), 'its sockets as well');
  // The core serves a moment before the panel knows.
  await panel.until(async () => (await engineOf(panel)).state === 'running', 'the panel knows it');
  t.is((await engineOf(panel)).errorMsg, '');

  await panel.get(`/panel/api/inbounds/setEnable/${onPath}`, { body: { enable: false } });
  await t.throwsAsync(stat(path), { code: 'ENOENT' }, 'nothing stays behind');
});
