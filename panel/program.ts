// The life of the panel in this process: start, restart (for example with other plugins), stop.
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderInUse } from '../file/lock.js';
import { messageOf } from '../kernel/errors/errors.js';
import { provide } from '../kernel/container/token.js';
import type { Kernel } from '../kernel/kernel.js';
import type { KernelOptions } from '../kernel/options.js';
import type { Log } from '../kernel/log/log.js';
import {
  type ListedPlugin,
  type Objection,
  type PanelProgramApi,
  PanelProgram,
  type Switch,
  type Switched,
} from '../plugins/system/contract.js';
import type { PluginState } from '../kernel/plugin/plugins.js';
import { type BootOptions, bootPanel } from './boot.js';
import { type Check, checkInChild } from './check-in-child.js';
import { choosePlugins } from './choose-plugins.js';
import { type ConfigFile, dataDirectoryOf, noFile, readConfigFile } from './config-file.js';
import { editPlugins, type Edited } from './edit-config.js';
import { forgetPluginExits } from './plugin-exits.js';
import { planSwitch } from './plan-switch.js';
import type { Environment } from './variables.js';
import { type Place as PortOf, previousPorts } from './previous-ports.js';
import { listPlugins } from './pending-restart.js';
import { isObject } from './json-object.js';
import { databaseAddress } from './inspect-data.js';
import { failedRestore, type Place, settleRestore, type Swapped, swapDatabase } from './restore/swap.js';

/** Leaves time for the reply to be sent; a stop also lets it finish. */
const REPLY_MS = 100;
/** How long a stop waits for the first start: one that downloads a core takes minutes, and has started none. */
const FIRST_START_LIMIT_MS = 4_000;
/** How long to wait for a command that holds the data folder. */
const FOLDER_LIMIT_MS = 30_000;
const FOLDER_LOOK_MS = 200;

interface Options
  extends Pick<KernelOptions, 'limits' | 'selfChecks'>,
    Pick<BootOptions, 'write' | 'logBuffer' | 'provides'> {
  readonly env: Environment;
  readonly log: Log;
  readonly readable: boolean;
  /** an exit within this many ms after the start counts against the plugin that caused it */
  readonly early: number;
  /** called when the panel can start with neither the new nor the previous config */
  readonly lost: (error: unknown) => void;
  /** asked before a switch and a restart; by default in a process of its own */
  readonly check?: Check;
}

interface Attempt {
  readonly reason: string;
  /** what the panel starts with when this start fails */
  readonly previous: ConfigFile;
  /** the edit of the config file that led to this start */
  readonly undo?: Edited;
  /** the folder of a rehearsed database that takes the place of the panel's own */
  readonly restore?: string;
  /** another panel runs the core from now on */
  readonly stopsCore?: boolean;
  /** why a panel that did start is still not what was requested */
  readonly problem: (started: Kernel) => string | undefined;
  readonly settle: (problem: string | undefined) => void;
}

const UNCHANGED = { problem: () => undefined, settle: () => undefined };
const failed = (kernel: Kernel): Map<string, string> =>
  new Map(
    kernel.plugins().flatMap(({ name, state, reason }) => (state === 'failed' ? [[name, reason]] : [])),
  );

export class Program implements PanelProgramApi {
  readonly #options: Options;
  readonly #switches = new Map<string, Switch>();
  #kernel: Kernel | undefined;
  /** what the running panel was started with */
  #file: ConfigFile = noFile;
  /** when the current panel began to start, in ms since 1970 */
  startedAt = Date.now();
  /** the same moment in `performance.now()` time; initially the start of the process */
  #bootBeganAt = 0;
  #forget: NodeJS.Timeout | undefined;
  #busy = false;
  #isStopping = false;
  #requestStop = (): void => undefined;
  readonly #stopRequested = new Promise<void>((resolve) => (this.#requestStop = resolve));
  #starting: Promise<void> = Promise.resolve();
  #restart: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): Promise<void> {
    const started = this.#start();
    this.#starting = started.catch(() => undefined);
    return started;
  }

  async #start(): Promise<void> {
    const { env, log } = this.#options;
    const file = await readConfigFile(env);
    const place = this.#place(file);
    try {
      this.#kernel = await this.#boot(file);
    } catch (error) {
      // The process may have died after a restore and before the panel had started with it.
      if (error instanceof FolderInUse || !(await settleRestore(place, messageOf(error)))) throw error;
      log.error('the panel does not start with the restored database; the previous one is back', { error });
      this.#kernel = await this.#boot(file);
    }
    await settleRestore(place);
  }

  #place(file: ConfigFile): Place {
    const { env } = this.#options;
    return { directory: dataDirectoryOf(env), address: databaseAddress(env, file, []) };
  }

  /** Finishes what is under way first. With `restarting` the core keeps running: another panel follows. */
  async stop(reason: string, restarting = false): Promise<void> {
    this.#isStopping = true;
    this.#requestStop();
    // The first start may have started a core already, which only a kernel that has booted can stop.
    if (!this.#kernel) {
      this.#options.log.info('stopping as soon as the panel has started', { reason });
      await Promise.race([this.#starting, sleep(FIRST_START_LIMIT_MS, undefined, { ref: false })]);
    }
    await this.#restart;
    await this.#kernel?.stop(reason, restarting);
  }

  async renewCertificate(): Promise<void> {
    await this.#kernel?.listeners.renewCertificate();
  }

  /** Whether the panel started only a moment ago. */
  get isEarly(): boolean {
    return performance.now() - this.#bootBeganAt < this.#options.early;
  }

  /** Records a fault of a plugin; false where it does not run. */
  fault(plugin: string, where: string, error: unknown): boolean {
    return this.#kernel?.fault(plugin, where, error) ?? false;
  }

  listed(plugins: readonly PluginState[]): Promise<readonly ListedPlugin[]> {
    return listPlugins(this.#options.env, plugins);
  }

  switches(): readonly Switch[] {
    return [...this.#switches.values()];
  }

  switchPlugin(name: string, enable: boolean): Promise<Switched | Objection> {
    return this.#exclusively((kernel) => this.#switch(kernel, name, enable));
  }

  restartPanel(): Promise<Switched | Objection> {
    return this.#exclusively(async (kernel) => {
      const { env, check = checkInChild } = this.#options;
      const { problems } = await check({ env });
      if (problems.length > 0) return { refused: 'would not start', reason: problems.join('; ') };
      this.#scheduleRestart(kernel, { reason: 'restart requested', previous: this.#file, ...UNCHANGED });
      return { restarting: true };
    });
  }

  startAnew(reason: string): void {
    void this.#exclusively(async (kernel) => {
      this.#scheduleRestart(kernel, { reason, previous: this.#file, stopsCore: true, ...UNCHANGED });
      return { restarting: true };
    });
  }

  restoreDatabase(folder: string): Promise<Switched | Objection> {
    return this.#exclusively(async (kernel) => {
      const before = failed(kernel);
      this.#scheduleRestart(kernel, {
        reason: 'a backup is restored',
        previous: this.#file,
        restore: folder,
        problem: (started) => [...failed(started)].find(([name]) => !before.has(name))?.[1],
        settle: () => undefined,
      });
      return { restarting: true };
    });
  }

  async #exclusively(work: (kernel: Kernel) => Promise<Switched | Objection>): Promise<Switched | Objection> {
    if (this.#busy || this.#isStopping || !this.#kernel)
      return { refused: 'busy', reason: 'the panel is already restarting; try again when it is back' };
    this.#busy = true;
    const done = await work(this.#kernel).catch(
      (error: unknown) => ({ refused: 'not writable', reason: messageOf(error) }) as const,
    );
    if ('refused' in done || !done.restarting) this.#busy = false;
    return done;
  }

  async #switch(kernel: Kernel, name: string, enable: boolean): Promise<Switched | Objection> {
    const { env, check = checkInChild } = this.#options;
    const plan = await planSwitch({ env, check, running: kernel.plugins() }, name, enable);
    if ('refused' in plan) return plan;
    if (plan.needless) return { restarting: false };
    if (enable) forgetPluginExits(dataDirectoryOf(env), [name]);
    const { key, previous } = plan;
    const edited = await editPlugins(previous.path, (plugins) => ({
      ...plugins,
      [key]: isObject(plugins[key]) ? { ...plugins[key], on: enable } : enable,
    }));
    const state = enable ? 'enabled' : 'disabled';
    const before = failed(kernel);
    this.#switches.set(name, { name, enable, problem: '' });
    this.#scheduleRestart(kernel, {
      reason: `the plugin ${name} was ${state}`,
      previous,
      undo: edited,
      problem: (started) => [...failed(started)].find(([other]) => other === name || !before.has(other))?.[1],
      settle: (problem) => {
        if (problem === undefined) this.#switches.delete(name);
        else
          this.#switches.set(name, {
            name,
            enable,
            problem: `it could not be ${state}, and the previous config is active again: ${problem}`,
          });
      },
    });
    return { restarting: true };
  }

  #scheduleRestart(kernel: Kernel, attempt: Attempt): void {
    this.#restart = sleep(REPLY_MS)
      .then(() => this.#restartNow(kernel, attempt))
      .catch((error: unknown) => this.#options.lost(error))
      .finally(() => (this.#busy = false));
  }

  async #restartNow(
    kernel: Kernel,
    { reason, previous, undo, restore, stopsCore = false, problem: problemOf, settle }: Attempt,
  ): Promise<void> {
    if (this.#isStopping) return;
    const { env, log } = this.#options;
    const places = kernel.listeners.places();
    await kernel.stop(reason, !stopsCore);
    this.#bootBeganAt = performance.now();
    this.startedAt = Date.now();
    let problem: string | undefined;
    let swapped: Swapped | undefined;
    try {
      if (restore !== undefined) swapped = await swapDatabase(this.#place(previous), restore);
      this.#kernel = await this.#boot(await readConfigFile(env));
      // A third-party plugin may still be starting; a stop does not wait for it.
      await Promise.race([this.#kernel.started, this.#stopRequested]);
      problem = problemOf(this.#kernel);
    } catch (error) {
      problem = messageOf(error);
    }
    settle(problem);
    if (problem === undefined) {
      await swapped?.done();
      return log.info('the panel started again', { reason });
    }
    log.error(`the restart failed; restoring the previous ${restore === undefined ? 'config' : 'database'}`, {
      reason,
      problem,
    });
    await this.#kernel?.stop('the previous config is restored', true);
    if (restore !== undefined)
      await failedRestore(dataDirectoryOf(env), { folder: restore, problem, swapped });
    await undo?.undo().catch((error: unknown) =>
      log.error('the config file could not be restored; restore it by hand', {
        file: undo.path,
        problem: messageOf(error),
      }),
    );
    this.#kernel = await this.#boot(previous).catch((error: unknown) => {
      log.error('the panel does not start with the previous config; trying its previous ports', {
        problem: messageOf(error),
      });
      return this.#boot(previous, places);
    });
  }

  /** `places`: where to listen in place of what the settings say. */
  async #boot(file: ConfigFile, places: readonly PortOf[] = []): Promise<Kernel> {
    const { env, readable, write, logBuffer, limits = {}, selfChecks, provides = [] } = this.#options;
    for (const deadline = Date.now() + FOLDER_LIMIT_MS; ; await sleep(FOLDER_LOOK_MS)) {
      try {
        const chosen = await choosePlugins(env, file);
        const kernel = await bootPanel({
          ...chosen,
          plugins: places.length > 0 ? [...chosen.plugins, previousPorts(places)] : chosen.plugins,
          env,
          readable,
          ...(write && { write }),
          ...(logBuffer && { logBuffer }),
          limits,
          selfChecks,
          bootBeganAt: this.#bootBeganAt,
          provides: [provide(PanelProgram, this as PanelProgramApi), ...provides],
        });
        this.#file = file;
        this.#forgetLater(kernel);
        return kernel;
      } catch (error) {
        // At the first start the folder may belong to another panel, so it is left alone.
        if (!(error instanceof FolderInUse) || !this.#busy || Date.now() > deadline) throw error;
      }
    }
  }
  /** A plugin that has run for a while gets its records deleted. */
  #forgetLater(kernel: Kernel): void {
    clearTimeout(this.#forget);
    const { early, env } = this.#options;
    const left = Math.max(0, this.#bootBeganAt + early - performance.now());
    this.#forget = setTimeout(() => {
      const running = kernel.plugins().filter(({ state }) => state === 'running');
      forgetPluginExits(
        dataDirectoryOf(env),
        running.map(({ name }) => name),
      );
    }, left).unref();
  }
}
