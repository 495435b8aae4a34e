// A proxy elsewhere, by which bytes leave: a second core with a Shadowsocks inbound, and a count of its connections.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Teardown } from '../../../test/engine/core-panel.js';
import { engineBinary } from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/free-port.js';

export interface Exit {
  /** without a name */
  readonly link: string;
  readonly port: number;
  /** since its start */
  connections(): number;
}

const METHOD = 'aes-128-gcm';
const START_LIMIT_MS = 20_000;

const reachable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(socket.destroy() && true));
    socket.once('error', () => resolve(false));
  });

/** Counts the connections that pass on to the core behind it. */
async function counter(t: Teardown, to: number): Promise<{ port: number; count: () => number }> {
  let count = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    count++;
    const onward = connect(to, '127.0.0.1');
    for (const one of [socket, onward]) {
      open.add(one);
      one.on('error', () => undefined).on('close', () => open.delete(one));
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, count: () => count };
}

export async function openExit(t: Teardown): Promise<Exit> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  const port = await freePort();
  const config = join(folder, 'exit.json');
  const settings = { method: METHOD, password: 'exit', network: 'tcp,udp' };
  await writeFile(
    config,
    JSON.stringify({
      log: { loglevel: 'none' },
      inbounds: [{ listen: '127.0.0.1', port, protocol: 'shadowsocks', settings }],
      outbounds: [{ protocol: 'freedom', settings: { finalRules: [{ action: 'allow' }] } }],
    }),
  );
  const core = spawn(engineBinary(), ['run', '-c', config], { stdio: 'ignore' });
  t.teardown(async () => {
    core.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  for (const deadline = Date.now() + START_LIMIT_MS; !(await reachable(port)); await sleep(50))
    if (Date.now() > deadline) throw new Error('the exit does not start');
  const before = await counter(t, port);
  const login = Buffer.from(`${METHOD}:exit`).toString('base64url');
  return { link: `ss://${login}@127.0.0.1:${before.port}`, port: before.port, connections: before.count };
}
