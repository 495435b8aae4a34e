// mihomo, the program that reads the YAML: its own check of a file, and a run with a port for each proxy.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { Teardown } from '../../../test/engine/core-panel.js';
import { clientProgram, passes } from '../../../test/harness/client-program.js';
import { freePort } from '../../engine/xray/test/traffic.js';

const CHECK_LIMIT_MS = 120_000;
const START_LIMIT_MS = 60_000;

async function folderWith(t: Teardown, config: string): Promise<{ folder: string; file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-mihomo-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'config.yaml');
  await writeFile(file, config);
  return { folder, file };
}

/** What mihomo says of a file: undefined when it takes it. */
export async function refusal(t: Teardown, config: string): Promise<string | undefined> {
  const { folder, file } = await folderWith(t, config);
  const path = clientProgram('mihomo');
  return new Promise((resolve) =>
    execFile(path, ['-t', '-d', folder, '-f', file], { timeout: CHECK_LIMIT_MS }, (error, stdout, stderr) =>
      resolve(error ? `${error.message}\n${stdout}${stderr}` : undefined),
    ),
  );
}

export interface Running {
  /** a SOCKS5 port on 127.0.0.1 for each proxy, by its name */
  readonly ports: ReadonlyMap<string, number>;
  output(): string;
}
/** Runs a file; `trusted` is a certificate in PEM. */
export async function runMihomo(
  t: Teardown,
  config: string,
  { names, trusted }: { readonly names: readonly string[]; readonly trusted: string },
): Promise<Running> {
  const ports = new Map<string, number>();
  for (const name of names) ports.set(name, await freePort());
  const listeners = [...ports].map(([proxy, port], i) => ({
    ...{ name: `in-${i}`, type: 'socks', listen: '127.0.0.1', udp: true },
    ...{ port, proxy },
  }));
  // It accepts connections before it serves them, and closes those; a way that needs no server tells when it serves.
  const readyPort = await freePort();
  listeners.push({
    ...{ name: 'ready', type: 'socks', listen: '127.0.0.1', udp: true },
    ...{ port: readyPort, proxy: 'DIRECT' },
  });
  const more = stringify({ 'log-level': 'warning', 'geo-auto-update': false, listeners });
  const { folder, file } = await folderWith(t, `${config}\n${more}`);
  const certificate = join(folder, 'trusted.pem');
  await writeFile(certificate, trusted);
  const child = spawn(clientProgram('mihomo'), ['-d', folder, '-f', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SSL_CERT_FILE: certificate },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for (const deadline = Date.now() + START_LIMIT_MS; !(await passes(readyPort)); await sleep(100))
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`mihomo does not start:\n${output}`);
  return { ports, output: () => output };
}
