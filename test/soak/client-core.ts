// One core as the programs of many users: an HTTP proxy whose accounts lead each to an outbound of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../harness/api.js';
import { outboundOf } from '../demo/link-to-outbound.js';
import { accepts } from '../../plugins/engine/xray/test/traffic.js';

const HOST = '127.0.0.1';
const START_LIMIT_MS = 30_000;
const nameOf = (n: number): string => `user${n}`;

export interface ManyUsers {
  /** Resolves with a connection of user `n` to this port, of loopback without `host`, through the core. */
  connect(n: number, port: number, host?: string): Promise<Socket>;
  stop(): Promise<void>;
}

/** Starts it with one link for each user. */
export async function startManyUsers(binary: string, links: readonly string[]): Promise<ManyUsers> {
  const port = await freePort();
  const config = {
    log: { loglevel: 'warning', access: 'none' },
    inbounds: [
      {
        listen: HOST,
        port,
        protocol: 'http',
        settings: { accounts: links.map((_, n) => ({ user: nameOf(n), pass: nameOf(n) })) },
      },
    ],
    outbounds: links.map((link, n) => ({ ...outboundOf(link).outbound, tag: nameOf(n) })),
    routing: { rules: links.map((_, n) => ({ user: [nameOf(n)], outboundTag: nameOf(n) })) },
  };
  const child = spawn(binary, ['run', '-c', 'stdin:'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4096)));
  child.stdin.end(JSON.stringify(config));
  const ended = once(child, 'exit');
  for (const deadline = Date.now() + START_LIMIT_MS; !(await accepts(port)); await sleep(50))
    if (child.exitCode !== null || Date.now() > deadline) {
      endWithUs();
      throw new Error(`the users' core did not start: ${output}`);
    }
  return {
    async connect(n, target, host = HOST) {
      const authorization = `Basic ${Buffer.from(`${nameOf(n)}:${nameOf(n)}`).toString('base64')}`;
      const outgoing = request({
        host: HOST,
        port,
        method: 'CONNECT',
        path: `${host}:${target}`,
        headers: { 'proxy-authorization': authorization },
        agent: false,
      });
      outgoing.end();
      const [response, socket] = (await once(outgoing, 'connect')) as [{ statusCode: number }, Socket];
      if (response.statusCode === 200) return socket;
      socket.destroy();
      throw new Error(`the core answered ${response.statusCode}`);
    },
    async stop() {
      endWithUs();
      await ended;
    },
  };
}
