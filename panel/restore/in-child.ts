// Runs a rehearsal, a trial, or a copy of the database of a server, in a process of its own.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Rehearsed } from '../../plugins/backup/contract.js';
import type { Environment } from '../variables.js';
import type { RehearsalOptions } from './rehearse.js';

const ENTRY = fileURLToPath(new URL('./child-process.js', import.meta.url));
/** A database of 100,000 clients takes about a minute on a small machine. */
const LIMIT_MS = 30 * 60_000;
const LAST_WORDS = 2_000;

export type Work =
  | ({ readonly kind: 'rehearsal' } & RehearsalOptions)
  | { readonly kind: 'trial'; readonly folder: string }
  | { readonly kind: 'copy'; readonly address: string; readonly folder: string; readonly path: string };

/** Always resolves: a rehearsal that crashes or hangs is a problem of the file. */
export function inChild(work: Work, env: Environment, limit = LIMIT_MS): Promise<Rehearsed> {
  return new Promise((resolve) => {
    const child = fork(ENTRY, { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let words = '';
    let isLate = false;
    let result: Rehearsed | undefined;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, limit);
    child.stderr?.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-LAST_WORDS)));
    child.on('message', (message) => (result = message as Rehearsed));
    child.on('error', (error) => (words += error.message));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const why = isLate
        ? `it took longer than ${limit / 1000} s`
        : `${signal ?? `exit code ${code}`} ${words.trim()}`;
      resolve(
        result ?? {
          problem: `the process of the ${work.kind} did not finish: ${why}`,
          rows: {},
          leftOut: [],
        },
      );
    });
    child.send(work);
  });
}
