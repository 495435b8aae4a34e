// The far end of a WireGuard tunnel: a core of its own on loopback, which lets everything out and notes what it was asked for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { newX25519 } from '../../plugins/keygen/contract.js';
import { freePort } from '../harness/api.js';
import { engineBinary, type Teardown } from './user.js';

const START_LIMIT_MS = 30_000;

export interface FarEndOptions {
  /** public key of the one peer that may connect, in base64 */
  readonly peer: string;
  /** addresses of the peer in the tunnel, as prefixes */
  readonly addresses: readonly string[];
  readonly host?: string;
  readonly port?: number;
}
export interface FarEnd {
  readonly publicKey: string;
  /** host:port */
  readonly endpoint: string;
  /** connections through the tunnel to this port */
  connections(port: number): number;
}

export async function openFarEnd(
  t: Teardown,
  { peer, addresses, host = '127.0.0.1', port }: FarEndOptions,
): Promise<FarEnd> {
  const { privateKey, publicKey } = newX25519('base64');
  const own = port ?? (await freePort());
  const config = {
    log: { loglevel: 'warning' },
    inbounds: [
      {
        tag: 'far',
        listen: host,
        port: own,
        protocol: 'wireguard',
        settings: {
          secretKey: privateKey,
          mtu: 1420,
          noKernelTun: true,
          peers: [{ publicKey: peer, allowedIPs: addresses }],
        },
      },
    ],
    outbounds: [{ protocol: 'freedom' }],
  };
  const child = spawn(engineBinary(), ['run', '-c', 'stdin:'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const ended = once(child, 'exit').finally(() => process.off('exit', endWithUs));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stdin.end(JSON.stringify(config));
  for (const deadline = Date.now() + START_LIMIT_MS; !/ started$/m.test(output); await sleep(20))
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the far end did not start: ${output}`);
  return {
    publicKey,
    endpoint: `${host}:${own}`,
    connections: (to) => output.match(new RegExp(`accepted tcp:\\S+:${to}\\b`, 'g'))?.length ?? 0,
  };
}
