// Tries what users reach with templates that would open a way to this machine, in a network namespace of its own (see
// reachable.ts). Prints its findings as one line of JSON.
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../plugins/engine/contract.js';
import { startClientCore } from '../../plugins/engine/xray/test/traffic.js';
import { outboundOf } from '../demo/link-to-outbound.js';
import { startNameServer } from './name-server.js';
import { ask, openPackets } from './socks.js';
import { changing, TEMPLATES } from './opening-templates.js';
import { engineBinary, openPanel } from './user.js';

const SERVER = '203.0.113.80';
const undo: (() => unknown)[] = [];
const t = { teardown: (end: () => unknown) => undo.push(end) } as unknown as ExecutionContext;

export interface Found {
  readonly templates: Readonly<Record<string, Opened>>;
  readonly changing: Changing;
}
/** What users reached while outbounds, rules and the default outbound changed all the time. */
export interface Changing {
  readonly saves: number;
  readonly refused: readonly string[];
  readonly streams: number;
  readonly packets: number;
  readonly inside: readonly string[];
}
export interface Opened {
  readonly status: number;
  readonly msg: string;
  /** what users reached on loopback: names and addresses over TCP, packets over UDP */
  readonly inside: readonly string[];
  /** whether the server was reached: streams, packets */
  readonly outside: readonly boolean[];
}

function prepareNetwork(folder: string): void {
  const ip = (...args: string[]): unknown =>
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  ip('link', 'set', 'lo', 'up');
  ip('addr', 'add', `${SERVER}/32`, 'dev', 'lo');
  ip('route', 'add', 'default', 'dev', 'lo');
  ip('-6', 'route', 'add', 'default', 'dev', 'lo');
  const bind = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
    execFileSync('mount', ['--bind', join(folder, name), `/etc/${name}`]);
  };
  bind('resolv.conf', 'nameserver 127.0.0.1\noptions attempts:1\n');
  bind('hosts', '127.0.0.1 localhost inside.test\n');
}

async function startServers() {
  const stream = async (host: string): Promise<number> => {
    const server = createServer((socket) => socket.on('error', () => undefined).end('reached')).listen(
      0,
      host,
    );
    undo.push(() => server.close());
    await once(server, 'listening');
    return (server.address() as { port: number }).port;
  };
  const [open, inside] = [await stream(SERVER), await stream('127.0.0.1')];
  const echo = createSocket('udp4').bind(0, SERVER);
  const loopback = createSocket('udp4').bind(0, '127.0.0.1');
  undo.push(
    () => echo.close(),
    () => loopback.close(),
  );
  const got: string[] = [];
  echo.on('message', (message, peer) => echo.send(message, peer.port, peer.address));
  loopback.on('message', (message) => got.push(message.toString()));
  await Promise.all([once(echo, 'listening'), once(loopback, 'listening')]);
  return { open, inside, echo: echo.address().port, loopback: loopback.address().port, got };
}

async function tryAll(socksPort: number, servers: Awaited<ReturnType<typeof startServers>>) {
  const { open, inside, echo, loopback, got } = servers;
  got.length = 0;
  const hosts = ['127.0.0.1', 'loopback.test', 'inside.test', 'given.test', 'public.test'];
  const streams = await Promise.all(hosts.map((host) => ask(socksPort, host, inside)));
  const server = await ask(socksPort, 'server.test', open);
  const packets = await openPackets(socksPort);
  packets.send(SERVER, echo, 'first');
  const first = await packets.next().catch(() => '');
  packets.send('127.0.0.1', loopback, 'packet to 127.0.0.1');
  packets.send('loopback.test', loopback, 'packet to loopback.test');
  packets.send(SERVER, echo, 'last');
  // Packets of a session keep their order.
  let came = first;
  while (came !== '' && came !== 'last') came = await packets.next().catch(() => '');
  packets.close();
  return {
    inside: [...hosts.filter((_, at) => streams[at] !== ''), ...got],
    outside: [server !== '', first !== ''],
  };
}

const SAVES = 100;
/** Of users at once. */
const AT_ONCE = 16;

async function tryWhileChanging(
  save: (template: JsonObject) => Promise<string>,
  socksPort: number,
  { inside, echo, loopback, got }: Awaited<ReturnType<typeof startServers>>,
): Promise<Changing> {
  got.length = 0;
  let isOver = false;
  const counts = { streams: 0, packets: 0 };
  const reached: string[] = [];
  const refused: string[] = [];
  const stream = async (host: string): Promise<void> => {
    while (!isOver) {
      if ((await ask(socksPort, host, inside)) !== '') reached.push(host);
      counts.streams += 1;
    }
  };
  const packet = async (): Promise<void> => {
    while (!isOver) {
      const session = await openPackets(socksPort);
      session.send(SERVER, echo, 'first');
      for (const host of ['127.0.0.1', 'loopback.test']) session.send(host, loopback, `packet to ${host}`);
      await sleep(20);
      session.close();
      counts.packets += 2;
    }
  };
  const users = [
    ...Array.from({ length: AT_ONCE }, () => ['127.0.0.1', 'loopback.test'])
      .flat()
      .map(stream),
    packet(),
    packet(),
  ];
  for (let round = 0; round < SAVES; round++) {
    const problem = await save(changing(round));
    if (problem !== '') refused.push(problem);
  }
  isOver = true;
  await Promise.all(users);
  return { saves: SAVES, refused, ...counts, inside: [...reached, ...got] };
}

const folder = mkdtempSync(join(tmpdir(), 'weir-test-'));
undo.push(() => rmSync(folder, { recursive: true, force: true }));
try {
  prepareNetwork(folder);
  const names = await startNameServer('127.0.0.1', 53, (name) =>
    name === 'server.test' || name === 'public.test' ? [SERVER] : ['127.0.0.1'],
  );
  undo.push(() => names.stop());
  const panel = await openPanel(t, { env: { WEIR_ENGINE_PRIVATE: '' } });
  await panel.addClient('a', [await panel.addInbound()]);
  const [link = ''] = await panel.get<string[]>('/panel/api/clients/links/a');
  const client = await startClientCore({ binary: engineBinary(), outbound: outboundOf(link).outbound });
  undo.push(client.stop);
  const servers = await startServers();
  const templates: Record<string, Opened> = {};
  for (const [name, template] of Object.entries(TEMPLATES)) {
    const saved = await panel.call('/panel/api/engine/update', {
      body: { engineSetting: template(servers.inside) },
    });
    // Restarts come ten seconds apart, but for this one.
    if (saved.body.msg.includes('does not have it yet'))
      await panel.call('/panel/api/server/restartEngineService', { method: 'POST' });
    const { status } = saved;
    templates[name] = {
      status,
      msg: saved.body.msg,
      ...(status === 200 ? await tryAll(client.socksPort, servers) : { inside: [], outside: [] }),
    };
  }
  const save = async (engineSetting: JsonObject): Promise<string> => {
    const { status, body } = await panel.call('/panel/api/engine/update', { body: { engineSetting } });
    return status === 200 && body.msg.endsWith('in force') ? '' : body.msg;
  };
  await save(changing(0));
  await panel.call('/panel/api/server/restartEngineService', { method: 'POST' });
  const found: Found = { templates, changing: await tryWhileChanging(save, client.socksPort, servers) };
  process.stdout.write(`${JSON.stringify(found)}\n`);
} finally {
  for (const end of undo.reverse()) await end();
}
