// A minimal Debian with systemd in a container: no compiler, no npm, no Node. It shares the network of this machine.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { until } from '../harness/until.js';

const run = promisify(execFile);
const RELEASE = 'bookworm';
const INSIDE = ['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'ca-certificates'];
const MOST_OUTPUT = 16 * 1024 * 1024;
const BOOT_LIMIT_MS = 60_000;

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Why no container can run here; blank where one can. */
export async function missingForContainers(): Promise<string> {
  if (process.getuid?.() !== 0) return 'containers need root';
  for (const program of ['debootstrap', 'systemd-nspawn', 'nsenter'])
    if (!(await run('sh', ['-c', `command -v ${program}`]).catch(() => undefined)))
      return `${program} is missing; on Debian or Ubuntu: apt-get install -y debootstrap systemd-container`;
  return '';
}

/** The system of all containers, made once and kept in the cache folder. */
async function system(): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'weir', 'containers');
  const folder = join(cache, `${RELEASE}-minbase-systemd`);
  if (await isThere(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  await mkdir(cache, { recursive: true });
  try {
    await run('debootstrap', ['--variant=minbase', `--include=${INSIDE.join()}`, RELEASE, draft], {
      maxBuffer: MOST_OUTPUT,
    });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

export interface Ended {
  readonly code: number;
  /** standard output and standard error */
  readonly said: string;
}

export class Container {
  readonly root: string;
  readonly #child: ChildProcess;
  #init = 0;

  private constructor(root: string, child: ChildProcess) {
    this.root = root;
    this.#child = child;
  }

  /** `packages` is a folder that the container sees as /packages; `files` are written before it boots. */
  static async boot(
    t: { teardown(close: () => unknown): void },
    packages: string,
    files: Readonly<Record<string, string>> = {},
  ): Promise<Container> {
    const parent = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const root = join(parent, 'root');
    // It has device files.
    await run('cp', ['-a', await system(), root]);
    for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
    const child = spawn(
      'systemd-nspawn',
      [
        ...['--quiet', '--register=no', '--keep-unit', '--boot', '--console=pipe'],
        ...['--capability=CAP_NET_ADMIN', `--bind-ro=${packages}:/packages`, '-D', root],
      ],
      { stdio: 'ignore' },
    );
    const container = new Container(root, child);
    t.teardown(async () => {
      await container.#stop();
      await rm(parent, { recursive: true, force: true });
    });
    for (const deadline = Date.now() + BOOT_LIMIT_MS; container.#init === 0; await sleep(100)) {
      container.#init = await firstChild(child.pid ?? 0);
      if (Date.now() > deadline) throw new Error('the container does not boot');
    }
    await until(
      async () => /running|degraded/.test((await container.run('systemctl is-system-running')).said),
      'the container has booted',
    );
    return container;
  }

  /** Runs a line of shell as root of the container, with nothing of this process's environment. */
  run(line: string): Promise<Ended> {
    const child = this.start(line);
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    return new Promise((resolve, reject) =>
      child.on('error', reject).on('close', (code) => resolve({ code: code ?? 1, said })),
    );
  }

  start(line: string): ChildProcess {
    return spawn(
      'nsenter',
      [
        ...['-t', String(this.#init), '-m', '-u', '-i', '-p', '-C', '--'],
        ...[
          'env',
          '-i',
          'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
          'sh',
          '-c',
          line,
        ],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
  }

  async #stop(): Promise<void> {
    // Killing the first process of a container kills all others in it.
    if (this.#init > 0) process.kill(this.#init, 'SIGKILL');
    else this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await new Promise((resolve) => this.#child.once('close', resolve));
  }
}

async function firstChild(parent: number): Promise<number> {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // pid (name) state ppid
    if (Number(/\) \S (\d+)/.exec(stat)?.[1]) === parent) return Number(name);
  }
  return 0;
}
