// Every rule of crashing-settings.ts on the real core: it takes the outbound, and a connection through it ends the process.
// A rule that fails here after an update of the core can go.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { engineBinary } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/free-port.js';
import { crashProblem } from '../crashing-settings.js';
import { walk } from '../walk.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const ID = '11111111-2222-4333-8444-555555555555';
const LIMIT_MS = 10_000;

/** A server that takes connections, and answers nothing of use. */
async function far(t: ExecutionContext): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', () => void socket.write('x'.repeat(100)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return (server.address() as AddressInfo).port;
}

function outbounds(port: number): Record<string, object> {
  const peer = (more: object) => ({
    protocol: 'wireguard',
    settings: {
      secretKey: KEY,
      address: ['10.0.0.2/32'],
      noKernelTun: true,
      peers: [{ publicKey: KEY, endpoint: `127.0.0.1:${port}`, ...more }],
    },
  });
  const vless = (streamSettings: object) => ({
    protocol: 'vless',
    settings: { vnext: [{ address: '127.0.0.1', port, users: [{ id: ID, encryption: 'none' }] }] },
    streamSettings,
  });
  const xhttp = (xhttpSettings: object, more: object = {}) =>
    vless({ network: 'xhttp', xhttpSettings: { path: '/', ...xhttpSettings }, ...more });
  const hop = (udpHop: object) => ({
    protocol: 'hysteria',
    settings: { version: 2, address: '127.0.0.1', port },
    streamSettings: {
      network: 'hysteria',
      security: 'tls',
      tlsSettings: { alpn: ['h3'] },
      hysteriaSettings: { version: 2, auth: 'x' },
      finalmask: { quicParams: { udpHop } },
    },
  });
  return {
    'keepAlive of a peer': peer({ keepAlive: 65_536 }),
    'a key of a peer': peer({ preSharedKey: 'x'.repeat(3000) }),
    'allowedIPs of a peer': peer({ allowedIPs: [''] }),
    'a host with a blank': xhttp({ host: 'a b' }),
    'a host with a slash': xhttp({ host: 'a/b' }),
    'a server name': xhttp({}, { security: 'tls', tlsSettings: { serverName: '2001:db8::1' } }),
    'posts of no bytes': xhttp({ mode: 'packet-up', scMaxEachPostBytes: -1 }),
    'downloads over TCP': xhttp({ downloadSettings: { address: '127.0.0.1', port } }),
    'a fragment of negative length': vless({
      finalmask: {
        tcp: [{ type: 'fragment', settings: { packets: '1-3', length: '-5--1', delay: '0' } }],
      },
    }),
    'hopping without an interval': hop({ ports: '20000-20010' }),
    'hopping in no time': hop({ ports: '20000-20010', interval: '0-0' }),
    'an MTU of 0': vless({ network: 'kcp', kcpSettings: { mtu: 0 } }),
  };
}

async function runs(t: ExecutionContext, outbound: object): Promise<{ core: ChildProcess; port: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const port = await freePort();
  const file = join(folder, 'core.json');
  const inbounds = [{ listen: '127.0.0.1', port, protocol: 'http' }];
  await writeFile(file, JSON.stringify({ log: { loglevel: 'warning' }, inbounds, outbounds: [outbound] }));
  const core = spawn(engineBinary(), ['run', '-c', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.teardown(async () => {
    core.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  let words = '';
  core.stdout.on('data', (chunk: Buffer) => (words += chunk.toString()));
  for (
    const end = Date.now() + LIMIT_MS;
    !words.includes('started') && core.exitCode === null;
    await sleep(20)
  )
    if (Date.now() > end) throw new Error(`the core does not start: ${words}`);
  return { core, port };
}

test('the core takes each of them, and a connection ends it', async (t) => {
  for (const [name, outbound] of Object.entries(outbounds(await far(t)))) {
    t.true(
      [...walk(outbound)].some((place) => crashProblem(place) !== undefined),
      `${name} has a rule`,
    );
    const { core, port } = await runs(t, outbound);
    t.is(core.exitCode, null, `${name}: it starts`);
    for (const end = Date.now() + LIMIT_MS; core.exitCode === null && Date.now() < end; await sleep(150)) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(`CONNECT a.example:80 HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat(3000)}`);
      t.teardown(() => void socket.destroy());
    }
    t.is(core.exitCode, 2, `${name}: a panic of the core`);
  }
});
