// One tunnel with a device that only notes what it is told: what is sent, and what is left alone.
import test, { type ExecutionContext } from 'ava';
import type { Inbound } from '../../inbounds/contract.js';
import type { SidecarUser } from '../../sidecars/contract.js';
import type { ControlSocket } from '../control-socket.js';
import { publicKeyOf } from '../public-key.js';
import { Tunnel, type TunnelParts } from '../tunnel.js';

const keyOf = (number: number): string => Buffer.alloc(32, number).toString('base64');
const hexOf = (number: number): string => Buffer.alloc(32, number).toString('hex');
const user = (clientId: number, more: Record<string, string | number> = {}): SidecarUser => ({
  inboundId: 1,
  clientId,
  name: `i1.c${clientId}`,
  account: {
    protocol: 'amneziawg',
    publicKey: keyOf(clientId),
    allowedIPs: `10.8.1.${clientId}/32`,
    preSharedKey: '',
    keepAlive: 0,
    forwardedPorts: '',
    ...more,
  },
});

class NotedDevice {
  /** lines of each operation */
  sets: string[][] = [];
  peers = new Map<string, string[]>();
  settings = [`private_key=${hexOf(1)}`, 'listen_port=51820', 's1=27', 's2=30', 's3=20', 's4=16'];

  get(eachLine: (line: string) => void): Promise<void> {
    for (const line of this.settings) eachLine(line);
    for (const [key, lines] of this.peers) for (const line of [`public_key=${key}`, ...lines]) eachLine(line);
    return Promise.resolve();
  }
  set(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return Promise.resolve();
    this.sets.push([...lines]);
    let key = '';
    for (const line of lines) {
      const [name = '', value = ''] = line.split('=');
      if (name === 'public_key') key = value;
      else if (name === 'remove') this.peers.delete(key);
      else if (name === 'allowed_ip') this.peers.set(key, [...(this.peers.get(key) ?? []), line]);
      else if (name === 'replace_allowed_ips') this.peers.set(key, []);
    }
    return Promise.resolve();
  }
  /** Returns the keys that operations named since the last call. */
  touched(): string[] {
    const lines = this.sets.flat();
    this.sets = [];
    return [
      ...new Set(lines.filter((line) => line.startsWith('public_key=')).map((line) => line.slice(11))),
    ].sort();
  }
}

function tunnelOn(t: ExecutionContext, device: NotedDevice, server: Record<string, unknown> = {}) {
  const warnings: object[] = [];
  const commands: string[] = [];
  const gone: number[] = [];
  const log = { warn: (msg: string, fields: object) => warnings.push({ msg, ...fields }) };
  const inbound = {
    id: 1,
    port: 51820,
    listen: '',
    settings: { server: { privateKey: keyOf(1), s1: 27, s2: 30, s3: 20, s4: 16, ...server } },
  };
  const tunnel = new Tunnel(inbound as unknown as Inbound, {
    log: log as unknown as TunnelParts['log'],
    run: (command, args, input = '') => {
      commands.push(`${command} ${args.join(' ')} ${input}`);
      return Promise.resolve('');
    },
    panel: 'abcdef',
    openPrivate: false,
    panelPorts: () => [2053],
    seen: () => {},
    gone: ({ clientId }) => gone.push(clientId),
    control: device as unknown as ControlSocket,
  });
  t.truthy(tunnel);
  return { tunnel, warnings, commands, gone };
}

test('a change touches its own clients only', async (t) => {
  const device = new NotedDevice();
  const { tunnel, gone } = tunnelOn(t, device);
  await tunnel.users.replace([2, 3, 4, 5].map((id) => user(id)));
  t.deepEqual(device.touched(), [2, 3, 4, 5].map(hexOf));
  await tunnel.users.change([user(6)], [{ inboundId: 1, clientId: 3 }]);
  t.deepEqual(device.touched(), [3, 6].map(hexOf));
  t.deepEqual([...device.peers.keys()].sort(), [2, 4, 5, 6].map(hexOf));
  t.deepEqual(gone, [3]);
  await tunnel.users.change([], [{ inboundId: 1, clientId: 99 }]);
  t.deepEqual(device.touched(), [], 'somebody who was never there');
});

test('the users of an adopted device are left alone where they are as they should be', async (t) => {
  const device = new NotedDevice();
  const first = tunnelOn(t, device);
  await first.tunnel.users.replace([2, 3].map((id) => user(id)));
  device.touched();
  const second = tunnelOn(t, device);
  await second.tunnel.users.replace([user(2), user(3), user(4)]);
  t.deepEqual(device.touched(), [hexOf(4)]);
  await second.tunnel.users.replace([user(2)]);
  t.deepEqual(device.touched(), [3, 4].map(hexOf), 'and who must not be there is removed');
});

test('a client that is put again begins at zero, with its new key alone', async (t) => {
  const device = new NotedDevice();
  const { tunnel } = tunnelOn(t, device);
  await tunnel.users.replace([user(2)]);
  device.touched();
  await tunnel.users.change([user(2, { publicKey: keyOf(9) })], []);
  t.deepEqual([...device.peers.keys()], [hexOf(9)]);
  await tunnel.users.change([user(2, { publicKey: keyOf(9), keepAlive: 25 })], []);
  t.true(device.sets.flat().includes('remove=true'), 'its counter ends');
  t.deepEqual(tunnel.clientOf(hexOf(9))?.clientId, 2);
  t.is(tunnel.clientOf(hexOf(2)), undefined);
});

test('an address that moves to another client is taken from the first before', async (t) => {
  const device = new NotedDevice();
  const { tunnel } = tunnelOn(t, device);
  await tunnel.users.replace([user(2)]);
  device.touched();
  await tunnel.users.change([user(3, { allowedIPs: '10.8.1.2/32' })], [{ inboundId: 1, clientId: 2 }]);
  const lines = device.sets.flat();
  t.true(lines.indexOf('remove=true') < lines.indexOf('allowed_ip=10.8.1.2/32'), lines.join(' '));
});

test('one client that is not valid does not spoil the others', async (t) => {
  const device = new NotedDevice();
  const { tunnel, warnings } = tunnelOn(t, device);
  await tunnel.users.replace([user(2), user(3, { publicKey: '' }), user(4, { allowedIPs: '' }), user(5)]);
  t.deepEqual([...device.peers.keys()].sort(), [2, 5].map(hexOf));
  t.deepEqual(
    warnings.map((line) => (line as { clientId: number }).clientId),
    [3, 4],
  );
});

test('a client with the key of the server itself is left out: the program would drop it without a word', async (t) => {
  const device = new NotedDevice();
  const { tunnel, warnings } = tunnelOn(t, device);
  const own = Buffer.from(publicKeyOf(keyOf(1)), 'hex').toString('base64');
  await tunnel.users.replace([user(2, { publicKey: own }), user(3)]);
  t.deepEqual([...device.peers.keys()], [hexOf(3)]);
  t.like(warnings.at(-1), { clientId: 2 });
});

test('counters have the client of their key, also before its users are put', async (t) => {
  const device = new NotedDevice();
  device.peers.set(hexOf(2), ['rx_bytes=10', 'tx_bytes=200', 'last_handshake_time_sec=5']);
  device.peers.set(hexOf(8), ['rx_bytes=1', 'tx_bytes=1']);
  const { tunnel } = tunnelOn(t, device);
  // Rules that are not there end it; who is expected is known by then.
  await t.throwsAsync(tunnel.setUp([user(2)]), { message: /nft did not make the table/ });
  t.deepEqual(await tunnel.read(), [{ inboundId: 1, clientId: 2, up: 10, down: 200 }]);
});

test('a tunnel that cannot be set up leaves no rules, and no interface without rules', async (t) => {
  const device = new NotedDevice();
  const { tunnel, commands } = tunnelOn(t, device);
  await t.throwsAsync(tunnel.setUp([]), { message: /nft did not make the table/ });
  t.false(
    commands.some((command) => command.startsWith('ip ')),
    'the interface stays down',
  );
  t.regex(
    commands.at(-1) ?? '',
    /^nft -f - table inet weir_abcdef_awg1\ndelete table inet weir_abcdef_awg1\n$/,
  );
  const bad = tunnelOn(t, device, { i1: '<1>' });
  await t.throwsAsync(bad.tunnel.setUp([]), { message: /^settings\.server\.i1: <1> is not a valid tag/ });
  t.deepEqual(device.sets, [], 'the program would crash on it');
});

test('routes are made for private networks of clients outside of the pool, and forgotten with them', async (t) => {
  const device = new NotedDevice();
  const { tunnel, commands, warnings } = tunnelOn(t, device);
  await tunnel.users.replace([]);
  await tunnel.users.change(
    [user(2, { allowedIPs: '10.8.1.2/32,10.99.0.0/24,8.8.8.8/32,0.0.0.0/0,127.0.0.1/32' })],
    [],
  );
  t.is(commands.pop(), 'ip -batch - route replace 10.99.0.0/24 dev awg1\n');
  t.like(warnings.at(-1), { networks: ['8.8.8.8/32', '0.0.0.0/0', '127.0.0.1/32'] });
  await tunnel.users.change([], [{ inboundId: 1, clientId: 2 }]);
  t.is(commands.pop(), 'ip -force -batch - route del 10.99.0.0/24 dev awg1\n');
});

test('forwarded ports are set when they change, and only then', async (t) => {
  const device = new NotedDevice();
  const { tunnel, commands } = tunnelOn(t, device);
  await tunnel.users.replace([user(2, { forwardedPorts: '80' }), user(3)]);
  t.regex(commands.at(-1) ?? '', /add element inet weir_abcdef_awg1 ports4 \{ 80 : 10\.8\.1\.2 \}/);
  const before = commands.length;
  await tunnel.users.change([user(4)], [{ inboundId: 1, clientId: 3 }]);
  t.is(commands.length, before);
  await tunnel.users.change([], [{ inboundId: 1, clientId: 2 }]);
  t.is(
    commands.at(-1),
    'nft -f - flush map inet weir_abcdef_awg1 ports4\nflush map inet weir_abcdef_awg1 ports6\n',
  );
});

test('thousands of clients are put in portions', async (t) => {
  const device = new NotedDevice();
  const { tunnel } = tunnelOn(t, device);
  const many = Array.from({ length: 1200 }, (_, i) =>
    user(i + 2, {
      publicKey: Buffer.from(String(i + 2).padStart(32, 'k')).toString('base64'),
      allowedIPs: `10.8.${Math.floor(i / 250)}.${(i % 250) + 2}/32`,
    }),
  );
  await tunnel.users.replace(many);
  t.is(device.sets.length, 3);
  t.is(device.peers.size, 1200);
});

test('a peer that is made quiet keeps its key and loses its addresses; one that is not there is not made', async (t) => {
  const device = new NotedDevice();
  const { tunnel } = tunnelOn(t, device);
  await tunnel.users.replace([user(2), user(3)]);
  device.sets = [];
  await tunnel.users.quiet([2, 9].map((clientId) => ({ inboundId: 1, clientId })));
  t.deepEqual(device.sets, [[`public_key=${hexOf(2)}`, 'update_only=true', 'replace_allowed_ips=true']]);
  t.deepEqual([...device.peers.keys()], [2, 3].map(hexOf));
});

test('the device is listed with the accounts that it has', async (t) => {
  const device = new NotedDevice();
  const { tunnel } = tunnelOn(t, device);
  await tunnel.users.replace([user(2), user(3)]);
  device.peers.set(hexOf(3), ['allowed_ip=10.8.1.77/32', 'persistent_keepalive_interval=9']);
  device.peers.set(hexOf(8), []);
  t.deepEqual(await tunnel.users.list(), [
    { name: 'i1.c2', account: user(2).account },
    { name: 'i1.c3', account: { preSharedKey: '', keepAlive: 9, allowedIPs: '10.8.1.77/32' } },
    { name: `with the key ${keyOf(8)}` },
  ]);
});
