// The program itself, where the tests find it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { clientProgram } from '../../../test/harness/client-program.js';
import { accepts } from '../../engine/xray/test/traffic.js';

export interface Teardown {
  teardown(close: () => unknown): void;
}

export const singBox = (): string => clientProgram('sing-box');

async function fileOf(t: Teardown, document: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'config.json');
  await writeFile(file, document);
  return file;
}

/** Resolves with what the program says against a document; empty when it accepts it. */
export async function check(t: Teardown, document: string): Promise<string> {
  const file = await fileOf(t, document);
  return promisify(execFile)(singBox(), ['check', '-c', file]).then(
    () => '',
    (error: { stderr?: string; message: string }) => error.stderr || error.message,
  );
}

const START_LIMIT_MS = 20_000;
/** Runs the program until the end of the test. */
export async function run(
  t: Teardown,
  document: string,
  { port, env }: { readonly port: number; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const file = await fileOf(t, document);
  const child = spawn(singBox(), ['run', '-c', file, '-D', join(file, '..')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended = once(child, 'exit');
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  t.teardown(async () => {
    process.off('exit', endWithUs);
    if (!isOver()) child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4096)));
  for (const deadline = Date.now() + START_LIMIT_MS; !(await accepts(port)); await sleep(50))
    if (isOver() || Date.now() > deadline) throw new Error(`sing-box did not start: ${said}`);
}
