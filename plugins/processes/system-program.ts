// Runs a short program of the system: `ip`, `nft`.
import { spawn } from 'node:child_process';
import { minimalEnvironment } from './environment.js';

const LIMIT_MS = 10_000;
const MOST_OUTPUT = 1024 * 1024;
/** First, because a PATH may have other programs of these names: there is an `nft` on npm. The PATH of a service may lack them. */
const SYSTEM_FOLDERS = '/usr/sbin:/sbin:/usr/bin:/bin';

export const searchPath = (): string => [SYSTEM_FOLDERS, process.env['PATH']].filter(Boolean).join(':');

/** Resolves with the output. Rejects with what the program writes about its failure; after `limit` ms (10 s), or `mostOutput` characters (1 Mi), it is killed. */
export type RunCommand = (
  command: string,
  args: readonly string[],
  input?: string,
  limit?: number,
  mostOutput?: number,
) => Promise<string>;

export const runCommand: RunCommand = (
  command,
  args,
  input = '',
  limit = LIMIT_MS,
  mostOutput = MOST_OUTPUT,
) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...minimalEnvironment(), PATH: searchPath(), LANG: 'C' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [out, errors, killed] = ['', '', ''];
    const kill = (why: string): void => {
      killed = why;
      child.kill('SIGKILL');
      // A child of the program may hold them open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(() => kill(`it did not end within ${limit / 1000} s`), limit);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if ((out += chunk).length > mostOutput) kill('it writes too much');
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      if ((errors += chunk).length > mostOutput) kill('it writes too much');
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(error.code === 'ENOENT' ? new Error(`the program ${command} is missing`) : error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const [first = ''] = errors.trim().split('\n');
      if (code === 0 && killed === '') resolve(out);
      else reject(new Error(`${command} failed: ${killed || first.slice(0, 300) || `exit code ${code}`}`));
    });
    // A program that ends before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
