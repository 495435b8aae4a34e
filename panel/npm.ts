// npm, as far as plugins need it: it fetches, unpacks and sorts out what a package needs. Never with scripts of packages.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const LIMIT_MS = 600_000;
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
/** Lines that tell nobody anything about what went wrong. */
const CHATTER =
  /^(?:code \S+|errno \S+|syscall \S+|path .*|A complete log of this run.*|\s*|\/.*-debug-0\.log)$/;

const complaint = (stderr: string): string =>
  stderr
    .split('\n')
    .map((line) => line.replace(/^npm (?:error|ERR!) ?(?:404 +)?/, ''))
    .filter((line) => !line.startsWith('npm ') && !CHATTER.test(line))
    .slice(0, 3)
    .join(' ');

/** Resolves with what it writes; rejects with a sentence. */
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
          ? 'there is no npm on PATH; it comes with Node'
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
  /** the file */
  readonly path: string;
}

/** Fetches what `spec` means to npm, seen from the folder of the person who typed it, as one file in a new folder within `into`. */
export async function pack(spec: string, into: string): Promise<Packed> {
  const folder = await mkdtemp(join(into, 'packed-'));
  const told = JSON.parse(
    await npm('pack', ['--json', '--pack-destination', folder, '--', spec], process.cwd()),
  ) as Record<string, Omit<Packed, 'path'>>;
  // npm 11 answers a list, npm 12 an object by name.
  const [only] = Object.values(told);
  const [file] = await readdir(folder);
  if (!only || file === undefined) throw new Error(`npm pack gives nothing for ${spec}`);
  return { name: only.name, version: only.version, path: join(folder, file) };
}
