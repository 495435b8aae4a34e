// Runs npm to fetch and install plugin packages with their dependencies. Never runs their install scripts.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const LIMIT_MS = 600_000;
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
/** Lines of npm's output that do not help to find the cause. */
const CHATTER =
  /^(?:code \S+|errno \S+|syscall \S+|path .*|A complete log of this run.*|\s*|\/.*-debug-0\.log)$/;

const complaint = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!) ?(?:404 +)?/, ''))
    .filter((line) => !line.startsWith('npm ') && !CHATTER.test(line))
    .slice(0, 3)
    .join(' ');

/** Resolves with npm's output; rejects with a sentence. */
export function npm(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'npm',
      [command, ...QUIET, ...args],
      { cwd, timeout: LIMIT_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
        const why = missing
          ? 'npm is not on PATH; it comes with Node'
          : error.killed
            ? 'it took too long'
            : complaint(stderr) || error.message;
        reject(new Error(`npm ${command} failed: ${why}`, { cause: error }));
      },
    );
  });
}

export interface Packed {
  readonly name: string;
  readonly version: string;
  /** path of the file */
  readonly path: string;
}

/** Fetches the package `spec`, resolved from the user's working directory, as one file in a new folder within `into`. */
export async function pack(spec: string, into: string): Promise<Packed> {
  const folder = await mkdtemp(join(into, 'packed-'));
  const told = JSON.parse(
    await npm('pack', ['--json', '--pack-destination', folder, '--', spec], process.cwd()),
  ) as Record<string, Omit<Packed, 'path'>>;
  // npm 11 prints a list, npm 12 an object keyed by name.
  const [only] = Object.values(told);
  const [file] = await readdir(folder);
  if (!only || file === undefined) throw new Error(`npm pack found nothing for ${spec}`);
  return { name: only.name, version: only.version, path: join(folder, file) };
}
