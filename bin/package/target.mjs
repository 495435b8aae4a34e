// What is built, and for which machine.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const MOST_OUTPUT = 64 * 1024 * 1024;
const ALIASES = { x64: 'x64', amd64: 'x64', x86_64: 'x64', arm64: 'arm64', aarch64: 'arm64' };
/** Names of the machines in other programs; `tools` is the prefix of a cross compiler. */
export const MACHINES = {
  x64: { go: 'amd64', elf: 62, tools: 'x86_64-linux-gnu-' },
  arm64: { go: 'arm64', elf: 183, tools: 'aarch64-linux-gnu-' },
};

export const say = (text) => process.stderr.write(`${text}\n`);

export function archOf(name) {
  if (Object.hasOwn(ALIASES, name)) return ALIASES[name];
  throw new Error(`--arch must be x64 or arm64, and "${name}" is not`);
}

/** Runs a program to its end; the last lines of its output are in the error. `what` names it there. */
export async function run(what, command, args, options = {}) {
  try {
    const { stdout } = await execute(command, args, { maxBuffer: MOST_OUTPUT, ...options });
    return stdout;
  } catch (error) {
    const reason =
      error.code === 'ENOENT'
        ? `${command} is not installed`
        : `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(-30).join('\n') ||
          error.message;
    throw new Error(`${what} failed: ${reason}`, { cause: error });
  }
}

export async function versionOf(root) {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return version;
}

/** The commit, and its time in seconds since 1970 for all files of the archive. A folder without git has neither. */
export async function commitOf(root) {
  const git = (...args) =>
    execute('git', args, { cwd: root }).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    );
  const [hash, at, changed] = await Promise.all([
    git('rev-parse', 'HEAD'),
    git('log', '-1', '--format=%ct'),
    git('status', '--porcelain'),
  ]);
  const epoch = process.env.SOURCE_DATE_EPOCH || at || '315532800';
  return { commit: changed === '' ? hash : `${hash}, with changes`, time: Number(epoch) };
}

/** A folder in the cache that is filled by `fill` once for each `key`. */
export async function cached(name, key, fill) {
  const digest = createHash('sha256').update(JSON.stringify(key)).digest('hex').slice(0, 16);
  const parent = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'weir', 'package');
  const folder = join(parent, `${name}-${digest}`);
  if (await stat(folder).catch(() => undefined)) return folder;
  const draft = `${folder}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  try {
    await fill(draft);
    await rename(draft, folder).catch(async (error) => {
      // Another process was faster.
      if (!(await stat(folder).catch(() => undefined))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Rejects a program for another machine, which would be found only where it is installed. */
export async function checkMachine(path, arch) {
  const head = await readFile(path).then((bytes) => bytes.subarray(0, 20));
  if (head.toString('latin1', 0, 4) !== '\x7fELF' || head.readUInt16LE(18) !== MACHINES[arch].elf)
    throw new Error(`${path} is not a program for ${arch}`);
}
