// Bans by fail2ban: the panel writes lines to its log, fail2ban reads them and bans.
import { appendFile, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../kernel/index.js';
import { type RunCommand, runCommand } from '../../processes/contract.js';
import type { BanDriver, BanPorts, BanScope, BanTarget, DriverBan, DriverState } from '../contract.js';
import { banAddress, SCOPES } from '../target.js';
import { fail2banFiles } from './files.js';
import { JAILS, lineOf, LOG_FOLDER, LOG_NAMES } from './log-lines.js';

const LIMIT_MS = 60_000;
const MOST_OUTPUT = 8 * 1024 * 1024;
const LARGEST_LOG = 1024 * 1024;
/** fail2ban looks at the log once a second, and starts programs for each ban. */
const WAIT_MS = 15_000;
const WAIT_FOR_EACH_MS = 100;
const LOOK_EVERY_MS = 300;
/** Addresses in one call. */
const PORTION = 1000;
const INSTALL = 'run `weir ban-guard install --yes` as root';

export class Fail2banDriver implements BanDriver {
  readonly name = 'fail2ban';
  readonly #dataDirectory: string;
  readonly #folder: string;
  readonly #run: RunCommand;

  constructor(
    {
      dataDirectory,
      config,
    }: { readonly dataDirectory: string; readonly config: { readonly fail2ban: string } },
    /** another one in tests */
    run: RunCommand = runCommand,
  ) {
    this.#dataDirectory = dataDirectory;
    this.#folder = config.fail2ban;
    this.#run = run;
  }

  async state(): Promise<DriverState> {
    try {
      await this.#client('--version');
    } catch (error) {
      const isMissing = /is missing$/.test(messageOf(error));
      const problem = isMissing
        ? `the program fail2ban-client is missing; install the package fail2ban, then ${INSTALL}`
        : messageOf(error);
      return { installed: !isMissing, problem };
    }
    try {
      await this.#client('ping');
    } catch (error) {
      return {
        installed: true,
        problem: `fail2ban does not answer; start it, and note that it answers only root: ${messageOf(error)}`,
      };
    }
    for (const scope of SCOPES)
      try {
        await this.#client('status', JAILS[scope]);
      } catch {
        return { installed: true, problem: `fail2ban has no jail ${JAILS[scope]}; ${INSTALL}` };
      }
    return { installed: true, problem: '' };
  }

  /** Rejects when the files of fail2ban are not those of this panel with these ports: they might close its own. */
  async prepare(ports: BanPorts): Promise<void> {
    await this.makeLogs();
    for (const { path, text } of fail2banFiles(this.#dataDirectory, ports)) {
      const there = await readFile(join(this.#folder, path), 'utf8').catch(() => '');
      if (there !== text)
        throw new Error(`${join(this.#folder, path)} does not fit this panel and its ports; ${INSTALL}`);
    }
  }

  async ban(bans: readonly DriverBan[]): Promise<void> {
    for (const scope of SCOPES) {
      const some = bans.filter((ban) => ban.scope === scope);
      if (some.length > 0) await this.#banIn(scope, some);
    }
  }

  async #banIn(scope: BanScope, bans: readonly DriverBan[]): Promise<void> {
    // fail2ban gives no new time to an address that is banned.
    const there = new Set((await this.#bannedIn(scope)).map(({ address }) => address));
    await this.unban(bans.filter(({ address }) => there.has(address)));
    const seconds = Math.max(...bans.map((ban) => ban.seconds), 1);
    await this.#client('set', JAILS[scope], 'bantime', String(Math.ceil(seconds)));
    // Its own clock: fail2ban ignores lines of another time.
    await this.#append(scope, bans.map((ban) => lineOf(ban, Date.now())).join(''));
    const wanted = new Set(bans.map(({ address }) => address));
    const limit = Date.now() + WAIT_MS + WAIT_FOR_EACH_MS * bans.length;
    for (;;) {
      await sleep(LOOK_EVERY_MS);
      for (const { address } of await this.#bannedIn(scope)) wanted.delete(address);
      if (wanted.size === 0) return;
      if (Date.now() > limit)
        throw new Error(
          `fail2ban did not ban ${wanted.size} of ${bans.length} addresses within ${Math.round((WAIT_MS + WAIT_FOR_EACH_MS * bans.length) / 1000)} s; its log says why`,
        );
    }
  }

  async unban(targets: readonly BanTarget[]): Promise<void> {
    for (const scope of SCOPES) {
      const addresses = targets.filter((one) => one.scope === scope).map(({ address }) => address);
      for (let i = 0; i < addresses.length; i += PORTION)
        await this.#client('set', JAILS[scope], 'unbanip', ...addresses.slice(i, i + PORTION));
    }
  }

  async banned(): Promise<readonly BanTarget[]> {
    return (await Promise.all(SCOPES.map((scope) => this.#bannedIn(scope)))).flat();
  }

  /** The jails and their files stay: only the command removes them. */
  async clear(): Promise<void> {
    const { installed, problem } = await this.state();
    // Without fail2ban or its jails there are no bans.
    if (!installed || problem.startsWith('fail2ban has no jail')) return;
    if (problem !== '') throw new Error(problem);
    await this.unban(await this.banned());
  }

  async #bannedIn(scope: BanScope): Promise<BanTarget[]> {
    const text = await this.#client('get', JAILS[scope], 'banip');
    return text.split(/[\s,]+/).flatMap((word) => {
      const address = banAddress(word);
      return address === undefined ? [] : [{ address, scope }];
    });
  }

  /** fail2ban leaves a jail out while its log is missing. */
  async makeLogs(): Promise<string> {
    const folder = join(this.#dataDirectory, LOG_FOLDER);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const scope of SCOPES) await appendFile(join(folder, LOG_NAMES[scope]), '', { mode: 0o600 });
    return folder;
  }

  async #append(scope: BanScope, lines: string): Promise<void> {
    const path = join(await this.makeLogs(), LOG_NAMES[scope]);
    // Before the new lines: fail2ban reads no file that has another name.
    if ((await stat(path)).size >= LARGEST_LOG) {
      await rename(path, `${path}.1`);
      await this.makeLogs();
    }
    const file = await open(path, 'r+', 0o600);
    try {
      const { size } = await file.stat();
      // A panel that was killed may have left half a line.
      const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
      const isWhole = bytesRead === 0 || buffer[0] === 0x0a;
      await file.write(`${isWhole ? '' : '\n'}${lines}`, size);
    } finally {
      await file.close();
    }
  }

  #client(...args: readonly string[]): Promise<string> {
    return this.#run('fail2ban-client', ['-c', this.#folder, ...args], '', LIMIT_MS, MOST_OUTPUT);
  }
}
