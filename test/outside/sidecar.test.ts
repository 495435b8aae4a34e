// A third-party plugin with a protocol of its own, run by a program beside the core: examples/acme-socks.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import acmeSocks from '../../examples/acme-socks/index.js';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../harness/index.js';
import { until } from '../harness/until.js';

/** Sends back what it gets. */
async function echoServer(t: ExecutionContext): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** RFC 1928 and 1929; rejects where the login is refused. */
async function throughSocks(port: number, link: string, to: number): Promise<Socket> {
  const [, login = ''] = /^socks:\/\/([^@]+)@/.exec(link) ?? [];
  const [user = '', password = ''] = Buffer.from(login, 'base64url').toString().split(':');
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  const say = async (...bytes: (number | string)[]): Promise<Buffer> => {
    socket.write(
      Buffer.concat(bytes.map((one) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from([one])))),
    );
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [])])) as [
      Buffer?,
    ];
    return chunk ?? Buffer.alloc(0);
  };
  await say(5, 1, 2);
  const [, refused = 1] = await say(1, user.length, user, password.length, password);
  if (refused !== 0) throw new Error('the login is refused');
  await say(5, 1, 0, 1, 127, 0, 0, 1, to >> 8, to & 255);
  return socket;
}

async function echo(socket: Socket, bytes: number): Promise<void> {
  let came = 0;
  const take = (chunk: Buffer): void => void (came += chunk.length);
  socket.on('data', take);
  socket.write(Buffer.alloc(bytes, 7));
  await until(() => came >= bytes || socket.destroyed, 'the bytes come back');
  socket.off('data', take);
}

test('a protocol and its program from outside: users live, bytes counted, a quota that cuts one alone', async (t) => {
  const [engine, clock, port, target] = [
    new FakeEngine(),
    new FakeClock(),
    await freePort(),
    await echoServer(t),
  ];
  const panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [acmeSocks], clock });
  await using _ = panel;
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  const usage = (email: string) =>
    panel.get<{ up: number; down: number; enable: boolean }>(`/panel/api/clients/traffic/${email}`);
  const linkOf = async (email: string): Promise<string> =>
    (await panel.get<string[]>(`/panel/api/clients/links/${email}`))[0] ?? '';
  const id = await panel.addInbound({ protocol: 'acme-socks', port });
  const state = async () => (await panel.get<{ state: string }>(`/panel/api/inbounds/get/${id}`)).state;
  await until(async () => (await state()) === 'running', 'the program runs');
  await panel.addClient('ann', [id], { totalGB: 50_000 });
  await panel.addClient('bob', [id]);
  const [ann, bob] = [
    await throughSocks(port, await linkOf('ann'), target),
    await throughSocks(port, await linkOf('bob'), target),
  ];
  await Promise.all([echo(ann, 10_000), echo(bob, 10_000)]);
  await poll();
  t.like(await usage('ann'), { up: 10_000, down: 10_000, enable: true });
  await echo(ann, 20_000);
  await poll();
  t.like(await usage('ann'), { up: 30_000, down: 30_000, enable: false });
  await until(() => ann.destroyed, 'the connection of ann is closed');
  await t.throwsAsync(throughSocks(port, await linkOf('ann'), target));
  await echo(bob, 5000);
  await poll();
  t.like(await usage('bob'), { up: 15_000, down: 15_000 });
  t.false(bob.destroyed);
  bob.destroy();
  t.deepEqual(panel.faults, []);
});

test('calls without the secret, broken calls and clients that go away end nothing; a new password counts once', async (t) => {
  const [engine, clock, port, target] = [
    new FakeEngine(),
    new FakeClock(),
    await freePort(),
    await echoServer(t),
  ];
  const panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [acmeSocks], clock });
  await using _ = panel;
  const id = await panel.addInbound({ protocol: 'acme-socks', port });
  const status = async () =>
    (
      await panel.get<{ state: string; pid: number; ports: Record<string, number> }[]>(
        '/panel/api/x/sidecars',
      )
    )[0];
  await until(async () => (await status())?.state === 'running', 'the program runs');
  await panel.addClient('ann', [id]);
  const { pid = 0, ports = {} } = (await status()) ?? {};
  const linkOf = async (): Promise<string> =>
    (await panel.get<string[]>('/panel/api/clients/links/ann'))[0] ?? '';
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', '[['],
    ['POST', 'x'.repeat(1_000_000)],
  ] as const) {
    const reply = await fetch(`http://127.0.0.1:${ports['api']}/`, { method, ...(body && { body }) }).catch(
      () => undefined,
    );
    t.true(reply === undefined || reply.status === 401);
  }
  // While its way out is being connected.
  for (let i = 0; i < 10; i++) {
    const early = await throughSocks(port, await linkOf(), target);
    early.resetAndDestroy();
  }
  const ann = await throughSocks(port, await linkOf(), target);
  await echo(ann, 1000);
  const poll = async (): Promise<void> => {
    clock.tick(5000);
    await panel.kernel.settled();
  };
  await poll();
  await panel.get('/panel/api/clients/update/ann', { body: { password: 'another-password' } });
  await until(() => ann.destroyed, 'the connection with the previous password is closed');
  await poll();
  const again = await throughSocks(port, await linkOf(), target);
  await echo(again, 5000);
  await poll();
  const { up, down } = await panel.get<{ up: number; down: number }>('/panel/api/clients/traffic/ann');
  t.deepEqual([up, down], [6000, 6000]);
  t.is((await status())?.pid, pid);
  again.destroy();
});
