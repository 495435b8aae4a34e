// Installed cores: `cores/<version>/` in the data folder, each with its program and a description with the program's digest.
// A core is complete under a name of staging before it gets its own name.
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { messageOf, replaceFile } from '../../kernel/index.js';
import { coresFolder, installedCore, isVersion, PROGRAM } from '../engine/contract.js';
import { minimalEnvironment } from '../processes/contract.js';
import { newestFirst } from './version.js';

const STAGING = '.staging-';
const DESCRIPTION = 'core.json';
const TRIAL_LIMIT_MS = 10_000;
/** An executable file that another thread has just written cannot be run while a child still holds it open. */
const BUSY_ATTEMPTS = 10;
const LARGEST_DESCRIPTION = 64 * 1024;

export interface InstalledCore {
  readonly version: string;
  /** SHA-256 of the program */
  readonly sha256: string;
  /** where it came from: an address, or the path of a program of this machine */
  readonly source: string;
  /** what confirmed the archive: an address, `request`, a variable; empty for a copy of a program of this machine */
  readonly digestFrom: string;
  /** Unix ms */
  readonly installedAt: number;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Rejects when it does not run here or does not say what a core says. */
export async function versionOfProgram(program: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { stdout } = await promisify(execFile)(program, ['version'], {
        timeout: TRIAL_LIMIT_MS,
        killSignal: 'SIGKILL',
        maxBuffer: 1024 * 1024,
        env: minimalEnvironment([]),
      });
      const [, version = ''] = /^Xray (\S+)/.exec(stdout) ?? [];
      if (isVersion(version)) return version;
      throw new Error(`it reports ${JSON.stringify(stdout.slice(0, 80))} as its version`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ETXTBSY' && attempt < BUSY_ATTEMPTS) {
        await sleep(20);
        continue;
      }
      throw new Error(`it is not a core that runs on this machine: ${messageOf(error).split('\n')[0]}`, {
        cause: error,
      });
    }
  }
}

export class CoreStore {
  readonly #data: string;

  constructor({ dataDirectory }: { readonly dataDirectory: string }) {
    this.#data = dataDirectory;
  }

  get #folder(): string {
    return coresFolder(this.#data);
  }

  async #describe(version: string): Promise<InstalledCore | undefined> {
    const text = await readFile(join(this.#folder, version, DESCRIPTION), 'utf8').catch(() => '');
    if (text === '' || text.length > LARGEST_DESCRIPTION) return undefined;
    try {
      const core = JSON.parse(text) as InstalledCore;
      return core.version === version && typeof core.sha256 === 'string' ? core : undefined;
    } catch {
      return undefined;
    }
  }

  /** Newest version first. */
  async all(): Promise<InstalledCore[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(names.filter(isVersion).map((name) => this.#describe(name)));
    return found.filter((core) => core !== undefined).sort((a, b) => newestFirst(a.version, b.version));
  }

  /** Resolves with the installed core if its program is the one that was installed. */
  async sound(version: string): Promise<InstalledCore | undefined> {
    const core = await this.#describe(version);
    const digest = core && (await hashOf(installedCore(this.#data, version)).catch(() => ''));
    return digest === core?.sha256 ? core : undefined;
  }

  /** Installs the program of an archive. Rejects when it is another version or no core, and leaves nothing behind then. */
  place(program: Buffer, about: Omit<InstalledCore, 'sha256' | 'installedAt'>): Promise<InstalledCore> {
    return this.#stage(about, async (path) => {
      const file = await open(path, 'wx', 0o755);
      try {
        await file.writeFile(program);
        await file.sync();
      } finally {
        await file.close();
      }
    });
  }

  /** Copies a program of this machine, so that it can be returned to whatever happens to it. */
  adopt(program: string, version: string): Promise<InstalledCore> {
    const about = { version, source: program, digestFrom: '' };
    return this.#stage(about, async (path) => {
      await copyFile(program, path);
      await chmod(path, 0o755);
    });
  }

  async #stage(
    about: Omit<InstalledCore, 'sha256' | 'installedAt'>,
    write: (path: string) => Promise<void>,
  ): Promise<InstalledCore> {
    const { version } = about;
    const staging = join(this.#folder, `${STAGING}${randomBytes(6).toString('hex')}`);
    const program = join(staging, PROGRAM);
    try {
      await mkdir(staging, { recursive: true, mode: 0o700 });
      await write(program);
      const reported = await versionOfProgram(program);
      if (reported !== version) throw new Error(`it is core ${reported}, not ${version}`);
      const core = { ...about, sha256: await hashOf(program), installedAt: Date.now() };
      await replaceFile(join(staging, DESCRIPTION), `${JSON.stringify(core)}\n`);
      const place = join(this.#folder, version);
      // A damaged one makes room; a core that runs from there keeps its open file.
      await rm(place, { recursive: true, force: true });
      await rename(staging, place);
      return core;
    } finally {
      await rm(staging, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  remove(version: string): Promise<void> {
    return rm(join(this.#folder, version), { recursive: true, force: true });
  }

  /** Removes what a killed panel left half-done. */
  async removeStaging(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((one) => one.startsWith(STAGING)))
      await rm(join(this.#folder, name), { recursive: true, force: true }).catch(() => undefined);
  }

  /** Retains `kept` and the newest of the others, `most` in all. Resolves with the versions that were removed. */
  async prune(kept: readonly string[], most: number): Promise<string[]> {
    const all = await this.all();
    const others = all
      .filter(({ version }) => !kept.includes(version))
      .sort((a, b) => b.installedAt - a.installedAt);
    const room = Math.max(0, most - (all.length - others.length));
    const removed = others.slice(room).map(({ version }) => version);
    for (const version of removed) await this.remove(version);
    return removed;
  }
}
