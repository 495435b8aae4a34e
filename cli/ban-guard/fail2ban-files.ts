// Puts files into the configuration of fail2ban, all of them or none: what fails its check is taken back.
import { lstat, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../file/replace.js';
import { FAIL2BAN_OWN, type Fail2banFile } from '../../plugins/ban-guard/contract.js';
import type { RunCommand } from '../../plugins/processes/contract.js';

const READABLE = 0o644;
/** Its check reads all of its configuration; a reload starts and stops jails. */
const LIMIT_MS = 60_000;

export interface PlannedFile {
  readonly path: string;
  /** undefined: there is none */
  readonly before: string | undefined;
  /** undefined: it is removed */
  readonly after: string | undefined;
}

/** Rejects when a file of somebody else has the name of one of ours. */
async function present(path: string): Promise<string | undefined> {
  const facts = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!facts) return undefined;
  const text = facts.isFile() ? await readFile(path, 'utf8') : '';
  if (!text.startsWith(FAIL2BAN_OWN)) throw new Error(`${path} was not written by weir; move it away first`);
  return text;
}

/** What would change. `isWanted`: the files are to be there, else none of them. A jail comes after what it names and goes before it: with half of it, fail2ban does not start. */
export const plan = (
  folder: string,
  files: readonly Fail2banFile[],
  isWanted: boolean,
): Promise<PlannedFile[]> =>
  Promise.all(
    (isWanted ? files : files.toReversed()).map(async ({ path, text }) => ({
      path: join(folder, path),
      before: await present(join(folder, path)),
      after: isWanted ? text : undefined,
    })),
  );

export const changes = (files: readonly PlannedFile[]): readonly PlannedFile[] =>
  files.filter(({ before, after }) => before !== after);

const put = (path: string, text: string | undefined): Promise<void> =>
  text === undefined ? rm(path, { force: true }) : replaceFile(path, text, READABLE);

export class Fail2ban {
  readonly #folder: string;
  readonly #run: RunCommand;

  constructor(folder: string, run: RunCommand) {
    this.#folder = folder;
    this.#run = run;
  }

  /** Rejects when the program is missing, or the folder is not its configuration. */
  async require(): Promise<void> {
    await this.#client('--version');
    if (!(await lstat(join(this.#folder, 'fail2ban.conf')).catch(() => undefined)))
      throw new Error(
        `${this.#folder} is not the configuration of fail2ban: it has no fail2ban.conf; WEIR_FAIL2BAN names another folder`,
      );
  }

  /** Writes, checks, and loads them where fail2ban runs. Resolves with whether it runs; rejects after everything is as before. */
  async apply(files: readonly PlannedFile[], jails: readonly string[]): Promise<boolean> {
    const written: PlannedFile[] = [];
    let isRunning = false;
    try {
      for (const file of files) {
        written.push(file);
        await put(file.path, file.after);
      }
      await this.#client('-t');
      isRunning = await this.#isRunning();
      if (isRunning) await this.#client('reload');
      if (isRunning) for (const jail of jails) await this.#client('status', jail);
      return isRunning;
    } catch (cause) {
      const left: string[] = [];
      for (const { path, before } of written.toReversed())
        await put(path, before).catch(() => left.push(path));
      if (isRunning) await this.#client('reload').catch(() => left.push('the jails'));
      const now =
        left.length > 0 ? `these could not be restored: ${left.join(', ')}` : 'everything is as before';
      throw new Error(`${(cause as Error).message}; ${now}`, { cause });
    }
  }

  async #isRunning(): Promise<boolean> {
    return this.#client('ping').then(
      () => true,
      () => false,
    );
  }
  #client(...args: readonly string[]): Promise<string> {
    return this.#run('fail2ban-client', ['-c', this.#folder, ...args], '', LIMIT_MS);
  }
}
