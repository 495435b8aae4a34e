// Tries what users of a panel's core can reach, in a network namespace: `unshare` starts this program with only a loopback
// interface, to which it adds addresses of every kind. Prints its findings as one line of JSON.
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../plugins/engine/contract.js';
import { startClientCore } from '../../plugins/engine/xray/test/traffic.js';
import { outboundOf } from '../demo/link-to-outbound.js';
import { startNameServer } from './name-server.js';
import { ask, openPackets } from './socks.js';
import { engineBinary, openPanel } from './user.js';

/** Stand for a server on the internet, and for this machine's own public address. */
const SERVER = '203.0.113.80';
const OWN = '203.0.113.1';
const EMBEDDED = ['::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::1', '::7f00:1'];
const METADATA = ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254'];
/** NAT64 of a public address is how a machine without IPv4 reaches half of the internet. */
const NAT64 = '64:ff9b::cb00:7150';

export interface Packets {
  readonly loopback: string[];
  readonly back: string[];
  /** what came back in a session that began with the server's name */
  readonly begun: string;
}
/** Everything that one panel's users tried, and the address they reached; '' where none. */
export interface Reach {
  readonly tcp: Readonly<Record<string, string>>;
  /** the same tries in one connection (mux), and by the one protocol whose names another library reads */
  readonly mux: Readonly<Record<string, string>>;
  readonly ss2022: Readonly<Record<string, string>>;
  /** by protocol: what a service on loopback got of the packets, and what came back from the server */
  readonly udp: Readonly<Record<string, Packets>>;
  readonly panel: Readonly<Record<string, string>>;
}
export interface Found {
  readonly standard: Reach;
  /** with WEIR_ENGINE_UDP=cone */
  readonly cone: Pick<Reach, 'tcp' | 'udp'>;
}

const PROTOCOLS: Record<string, Record<string, unknown>> = {
  vless: { decryption: 'none' },
  vmess: {},
  trojan: {},
  shadowsocks: { method: 'chacha20-ietf-poly1305', network: 'tcp,udp' },
  ss2022: {
    method: '2022-blake3-aes-128-gcm',
    password: 'AAECAwQFBgcICQoLDA0ODw==',
    network: 'tcp,udp',
  },
};

/** Adds an outbound of its own for some names, and a rule that has names looked up. */
const PLUGIN = `
import { definePlugin, tap } from '@weir-panel/weir/kernel';
import { composeCoreConfig } from '@weir-panel/weir/plugins/engine';
export default definePlugin({
  name: 'second', version: '1.0.0', api: 1, about: 'For a test.',
  taps: () => [tap(composeCoreConfig, (add) => add(
    { outbound: { tag: 'second', protocol: 'freedom' } },
    { outbound: { tag: 'through', protocol: 'freedom', sendThrough: '127.0.0.1' } },
    { rule: { domain: ['full:through.test'], outboundTag: 'through' } },
    { rule: { domain: ['regexp:^second'], outboundTag: 'second' } },
    { rule: { ip: ['198.51.100.0/24'], outboundTag: 'blocked' } },
  ))],
});`;

const undo: (() => unknown)[] = [];
const t = { teardown: (end: () => unknown) => undo.push(end) } as unknown as ExecutionContext;

function prepareNetwork(folder: string): void {
  const ip = (...args: string[]): unknown =>
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  ip('link', 'set', 'lo', 'up');
  for (const address of [SERVER, OWN, '169.254.169.254', '100.100.100.200', '168.63.129.16'])
    ip('addr', 'add', `${address}/32`, 'dev', 'lo');
  for (const address of [...EMBEDDED, NAT64, 'fd00:ec2::254'])
    ip('addr', 'add', `${address}/128`, 'dev', 'lo', 'nodad');
  ip('route', 'add', 'default', 'dev', 'lo');
  ip('-6', 'route', 'add', 'default', 'dev', 'lo');
  const resolver = join(folder, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\noptions attempts:1\n');
  execFileSync('mount', ['--bind', resolver, '/etc/resolv.conf']);
}

/** Replies to each connection with the address that it reached. */
async function startTeller(host: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end((socket.localAddress ?? '').replace(/^::ffff:/, ''));
  }).listen(0, host);
  undo.push(() => server.close());
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

const NAMES: Record<string, (before: number) => string[]> = {
  'server.test': () => [SERVER],
  'both.test': () => ['127.0.0.1', SERVER, '::1'],
  'loopback.test': () => ['127.0.0.1', '::1'],
  'mapped.test': () => ['::ffff:127.0.0.1'],
  'embedded.test': () => EMBEDDED,
  'metadata.test': () => METADATA,
  'own.test': () => [OWN],
  // The outbound of a plugin handles these two.
  'second.test': () => [SERVER],
  'second.loopback.test': () => ['127.0.0.1'],
  // This one leaves with the address of loopback.
  'through.test': () => [OWN],
};

async function tryTcp(socksPort: number, open: number, inside: number): Promise<Reach['tcp']> {
  const tries: [string, string, number][] = [
    ...[SERVER, NAT64, 'server.test', 'both.test'].map((host): [string, string, number] => [
      host,
      host,
      open,
    ]),
    ...['127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', ...EMBEDDED, ...METADATA].map(
      (host): [string, string, number] => [host, host, open],
    ),
    ...[
      'localhost',
      'localhost.',
      'x.localhost',
      '127.0.0.1.',
      '127.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      '::1%lo',
    ].map((host): [string, string, number] => [`name ${host}`, host, open]),
    ...Object.keys(NAMES).map((host): [string, string, number] => [host, host, open]),
    // Only loopback listens there: a core that looks the name up again is the only way in.
    ...['flip1.test', 'flip2.test', 'flip3.test', 'second.flip.test'].map(
      (host): [string, string, number] => [host, host, inside],
    ),
  ];
  return Object.fromEntries(
    await Promise.all(tries.map(async ([name, host, port]) => [name, await ask(socksPort, host, port)])),
  ) as Reach['tcp'];
}

/** An echo on the server's address, and a service on loopback that writes down what it gets. */
async function startPacketServers() {
  const echo = createSocket('udp4').bind(0, SERVER);
  const inside = createSocket('udp4').bind(0, '127.0.0.1');
  undo.push(
    () => echo.close(),
    () => inside.close(),
  );
  const got: string[] = [];
  echo.on('message', (message, peer) => echo.send(message, peer.port, peer.address));
  inside.on('message', (message) => got.push(message.toString()));
  await Promise.all([once(echo, 'listening'), once(inside, 'listening')]);
  return { echo: echo.address().port, inside: inside.address().port, got };
}

/** One session that begins with an address, and some that begin with names. What loopback got is known later. */
async function tryUdp(
  protocol: string,
  socksPort: number,
  { echo, inside }: Awaited<ReturnType<typeof startPacketServers>>,
  flip: string,
): Promise<Pick<Packets, 'back' | 'begun'>> {
  const open = async (): Promise<Awaited<ReturnType<typeof openPackets>>> => {
    const session = await openPackets(socksPort);
    undo.push(session.close);
    return session;
  };
  for (const host of ['127.0.0.1', 'loopback.test', `${protocol}.${flip}`, 'second.loopback.test'])
    (await open()).send(host, inside, `${protocol} ${host}`);
  const packets = await open();
  const back: string[] = [];
  packets.send(SERVER, echo, 'first');
  back.push(await packets.next());
  packets.send('127.0.0.1', inside, `${protocol} second`);
  packets.send('::ffff:127.0.0.1', inside, `${protocol} third`);
  packets.send('localhost', inside, `${protocol} fourth`);
  packets.send(SERVER, echo, 'last');
  // Packets of a session keep their order: when the last one is back, the others have gone where they go.
  while (back.at(-1) !== 'last') back.push(await packets.next());
  const named = await open();
  named.send('server.test', echo, 'by name');
  return { back, begun: await named.next() };
}

const locally = (link: string): JsonObject =>
  JSON.parse(JSON.stringify(outboundOf(link).outbound).replace('0.0.0.0', '127.0.0.1')) as JsonObject;

/** A panel that listens on every address, with an inbound of each protocol and a user program for each. */
async function openUsers(dataDirectory: string, env: Record<string, string>) {
  const panel = await openPanel(t, {
    dataDirectory,
    env: { WEIR_HOST: '0.0.0.0', WEIR_SUB_HOST: '0.0.0.0', WEIR_ENGINE_PRIVATE: '', ...env },
  });
  const ids = [];
  // With a sniffed name for routing only, the core routes by that name and dials the address that the user asked for.
  const sniffing = { enabled: true, destOverride: ['http', 'tls'], routeOnly: true };
  for (const [protocol, settings] of Object.entries(PROTOCOLS))
    ids.push(
      await panel.addInbound({ protocol: protocol.replace('ss2022', 'shadowsocks'), settings, sniffing }),
    );
  await panel.addClient('a', ids);
  const links = await panel.get<string[]>('/panel/api/clients/links/a');
  const clients = await Promise.all(
    links.map((link) => startClientCore({ binary: engineBinary(), outbound: locally(link) })),
  );
  undo.push(...clients.map((client) => client.stop));
  return { panel, links, ports: clients.map(({ socksPort }) => socksPort) };
}

/** By protocol. What loopback got is read when the returned function is called: the core may look names up again until then. */
async function tryAllUdp(ports: readonly number[], flip: string): Promise<() => Reach['udp']> {
  const servers = await startPacketServers();
  const packets = await Promise.all(
    Object.keys(PROTOCOLS).map(
      async (protocol, n) => [protocol, await tryUdp(protocol, ports[n] ?? 0, servers, flip)] as const,
    ),
  );
  const loopback = (protocol: string): string[] =>
    servers.got
      .filter((text) => text.startsWith(`${protocol} `))
      .map((text) => text.slice(protocol.length + 1));
  return () =>
    Object.fromEntries(
      packets.map(([protocol, came]) => [protocol, { loopback: loopback(protocol), ...came }]),
    );
}

async function reach(dataDirectory: string): Promise<() => Reach> {
  const { panel, links, ports } = await openUsers(dataDirectory, {});
  const [socksPort = 0] = ports;
  const open = await startTeller('::');
  const inside = await startTeller('127.0.0.1');
  const muxed = await startClientCore({
    binary: engineBinary(),
    outbound: { ...locally(links[0] ?? ''), mux: { enabled: true, concurrency: 8 } },
  });
  undo.push(muxed.stop);
  const [tcp, ss2022, mux, udp] = await Promise.all([
    tryTcp(socksPort, open, inside),
    tryTcp(ports.at(-1) ?? 0, open, inside),
    tryTcp(muxed.socksPort, open, inside),
    tryAllUdp(ports, 'flip.test'),
  ]);
  const health = (host: string): string =>
    `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  const status = async (host: string, url: string, sniffed = 'server.test'): Promise<string> =>
    (await ask(socksPort, host, Number(new URL(url).port), health(sniffed)))
      .slice('HTTP/1.1 '.length)
      .slice(0, 3);
  const { panelUrl, subUrl } = panel.ready;
  const [address, name, through, subscription, byName, sniffed] = await Promise.all([
    status(OWN, panelUrl),
    status('own.test', panelUrl),
    status('through.test', panelUrl, 'through.test'),
    status(OWN, subUrl),
    status('own.test', subUrl),
    status('127.0.0.1', panelUrl),
  ]);
  const itself = await fetch(`${panel.url}/healthz`);
  return () => ({
    tcp,
    mux,
    ss2022,
    udp: udp(),
    panel: {
      address,
      name,
      'through loopback': through,
      subscription,
      'subscription by name': byName,
      'loopback, with a sniffed name': sniffed,
      'from loopback': String(itself.status),
    },
  });
}

async function reachAsCone(dataDirectory: string): Promise<() => Found['cone']> {
  const { ports } = await openUsers(dataDirectory, { WEIR_ENGINE_UDP: 'cone' });
  const inside = await startTeller('127.0.0.1');
  const tcp: [string, string][] = [];
  for (const host of ['127.0.0.1', 'cone.flip.test'])
    tcp.push([host, await ask(ports[0] ?? 0, host, inside)]);
  const udp = await tryAllUdp(ports, 'cone.flip.test');
  return () => ({ tcp: Object.fromEntries(tcp), udp: udp() });
}

const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
undo.push(() => rmSync(folder, { recursive: true, force: true }));
try {
  prepareNetwork(folder);
  const names = await startNameServer('127.0.0.1', 53, (name, before) =>
    name.includes('flip') ? [before === 0 ? SERVER : '127.0.0.1'] : (NAMES[name]?.(before) ?? []),
  );
  undo.push(() => names.stop());
  const dataDirectories = ['standard', 'cone'].map((name) => join(folder, name));
  for (const directory of dataDirectories) {
    mkdirSync(join(directory, 'second'), { recursive: true });
    writeFileSync(join(directory, 'second', 'index.js'), PLUGIN);
    writeFileSync(
      join(directory, 'second', 'package.json'),
      JSON.stringify({
        name: 'weir-plugin-second',
        version: '1.0.0',
        type: 'module',
        exports: './index.js',
        weir: { api: 1 },
      }),
    );
    writeFileSync(join(directory, 'weir.json'), JSON.stringify({ plugins: { 'path:./second': true } }));
  }
  const [standard = '', cone = ''] = dataDirectories;
  const [reached, asCone] = await Promise.all([reach(standard), reachAsCone(cone)]);
  const found: Found = { standard: reached(), cone: asCone() };
  process.stdout.write(`${JSON.stringify(found)}\n`);
} finally {
  for (const end of undo.reverse()) await end();
}
