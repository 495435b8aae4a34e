// The examples that use the client, as their authors have them: built in a folder of their own, run as processes.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { compile, placeSdk, placeTypes } from '../../sdk/test/built-sdk.js';
import { sourceRoot } from '../harness/source-root.js';
import type { TestPanel } from '../harness/panel.js';

/** Builds an example with the package of the client beside it; resolves with its folder, which the caller removes. */
export async function builtExample(example: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `weir-${example}-`));
  await cp(join(fileURLToPath(await sourceRoot()), 'examples', example), folder, { recursive: true });
  await placeSdk(folder);
  await placeTypes(folder);
  const complaints = await compile(folder);
  if (complaints !== '') throw new Error(`${example} does not build: ${complaints}`);
  return folder;
}

/** A new API token, and where it is good. */
export async function accessTo(panel: TestPanel): Promise<{ WEIR_URL: string; WEIR_TOKEN: string }> {
  const { token } = await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'example' },
  });
  return { WEIR_URL: panel.url, WEIR_TOKEN: token };
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export const runProgram = (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });

/** Starts a server that says where it listens; it ends with the test. */
export async function startServer(
  t: ExecutionContext,
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => void child.kill('SIGKILL'));
  let words = '';
  child.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()));
  const said = once(createInterface(child.stdout), 'line').then(([line]) => String(line));
  const ended = once(child, 'close').then(() => `the program ended: ${words}`);
  const [, url] = /^listening on (\S+)$/.exec(await Promise.race([said, ended])) ?? [];
  if (url === undefined) throw new Error(await ended);
  return { url, words: () => words };
}
