// Runs a check in a process of its own.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CheckOptions, Report } from './check.js';

const ENTRY = fileURLToPath(new URL('./check-process.js', import.meta.url));
const LIMIT_MS = 120_000;
const LAST_WORDS = 2_000;

/** A check, wherever it runs. */
export type Check = (options: CheckOptions) => Promise<Report>;

/** Always resolves: a check that crashes or hangs is reported as a problem. */
export async function checkInChild(options: CheckOptions, limit = LIMIT_MS): Promise<Report> {
  // Removed with everything that the check leaves in it, even when the check had to be killed.
  const folder = await mkdtemp(join(options.env['TMPDIR'] || tmpdir(), 'weir-apart-'));
  try {
    return await inProcess({ ...options, env: { ...options.env, TMPDIR: folder } }, limit);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function inProcess({ env, ...options }: CheckOptions, limit: number): Promise<Report> {
  return new Promise((resolve) => {
    const child = fork(ENTRY, { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let words = '';
    let late = false;
    let report: Report | undefined;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, limit);
    child.stderr?.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-LAST_WORDS)));
    child.on('message', (message) => (report = message as Report));
    child.on('error', (error) => (words += error.message));
    child.on('close', (code) => {
      clearTimeout(timer);
      const why = late
        ? `it took longer than ${limit / 1000} s; a plugin may hang while it is imported`
        : `exit code ${code}${words && `: ${words.trim()}`}`;
      resolve(
        report ?? {
          problems: [`the check did not finish: ${why}`],
          failed: [],
          notes: [],
          plugins: [],
          configFile: '',
          database: '',
        },
      );
    });
    child.send(options);
  });
}
