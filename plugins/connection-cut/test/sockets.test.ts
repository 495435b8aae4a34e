// Against this machine's own kernel, with connections of this test only.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { until } from '../../../test/harness/until.js';
import { spell } from '../address.js';
import { readSockets, socketKey } from '../socket-table.js';
import { filterOf, Sockets } from '../sockets.js';
import { testUnless } from '../../../test/harness/left-out.js';

const testWithRight = testUnless(await new Sockets().obstacle());

async function listen(
  t: ExecutionContext,
  host: string,
): Promise<{ server: Server; port: number; taken: Socket[] }> {
  const taken: Socket[] = [];
  const server = createServer((socket) => void taken.push(socket.on('error', () => undefined))).listen(
    0,
    host,
  );
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of taken) socket.destroy();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, taken };
}
async function open(t: ExecutionContext, host: string, port: number): Promise<Socket> {
  const socket = connect(port, host).on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}
const keyOf = (address: string, port: number, localPort: number): string =>
  socketKey(spell(address) ?? '', port, localPort);
const own = (socket: Socket): number => socket.localPort ?? 0;

test('the table has the open connections of a port, each with an inode of its own, and no others', async (t) => {
  const here = await listen(t, '127.0.0.1');
  const elsewhere = await listen(t, '127.0.0.1');
  const [a, b] = [await open(t, '127.0.0.1', here.port), await open(t, '127.0.0.1', here.port)];
  await open(t, '127.0.0.1', elsewhere.port);
  await until(() => here.taken.length === 2, 'both are taken');
  const keys = [a, b].map((socket) => keyOf('127.0.0.1', own(socket), here.port));
  const table = await readSockets(new Set([here.port]));
  t.deepEqual([...table.keys()].sort(), [...keys].sort());
  t.is(new Set(table.values()).size, 2);
  a.destroy();
  await until(async () => (await readSockets(new Set([here.port]))).size === 1, 'one is left');
  t.deepEqual(await readSockets(new Set()), new Map());
});

test('a filter names both ends of each connection, whatever the family', (t) => {
  const localPort = 443;
  t.is(
    filterOf([keyOf('192.0.2.7', 5000, localPort)]),
    '( sport = :443 and dst [192.0.2.7] and dport = :5000 )',
  );
  t.is(
    filterOf([keyOf('192.0.2.7', 1, localPort), keyOf('2001:db8::7', 2, localPort)]),
    '( sport = :443 and dst [192.0.2.7] and dport = :1 ) or ( sport = :443 and dst [2001:0db8:0000:0000:0000:0000:0000:0007] and dport = :2 )',
  );
});

testWithRight(
  'the named connections are closed, over IPv4, IPv6 and IPv4 inside IPv6, and no others',
  async (t) => {
    const sockets = new Sockets();
    const { port, taken } = await listen(t, '::');
    const ways = ['127.0.0.1', '::1'];
    const doomed: Socket[] = [];
    for (const host of ways) doomed.push(await open(t, host, port));
    const spared: Socket[] = [];
    for (const host of ways) spared.push(await open(t, host, port));
    await until(() => taken.length === 4, 'all are taken');
    const before = await readSockets(new Set([port]));
    const ends = doomed.map((socket, i) => keyOf(ways[i] ?? '', own(socket), port));
    for (const key of ends) t.true(before.has(key), 'the table spells it as the log does');
    t.is(await sockets.close(ends), 2);
    const left = await readSockets(new Set([port]));
    t.deepEqual(
      [...left.keys()].sort(),
      spared.map((socket, i) => keyOf(ways[i] ?? '', own(socket), port)).sort(),
    );
    t.is(await sockets.close(ends), 0, 'what is gone is gone');
    t.is(await sockets.close([]), 0);
  },
);

testWithRight('more connections than one call of the program takes', async (t) => {
  const sockets = new Sockets();
  const { port, taken } = await listen(t, '127.0.0.1');
  const count = 450;
  const all = await Promise.all(Array.from({ length: count }, () => open(t, '127.0.0.1', port)));
  await until(() => taken.length === count, 'all are taken');
  const [spared, ...doomed] = all;
  t.is(await sockets.close(doomed.map((socket) => keyOf('127.0.0.1', own(socket), port))), count - 1);
  t.deepEqual(
    [...(await readSockets(new Set([port]))).keys()],
    [keyOf('127.0.0.1', spared ? own(spared) : 0, port)],
  );
});
