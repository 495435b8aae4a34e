// The life of the program around the panel: its start, its restart in this process (with another set of plugins, say), its end.
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
import { type Check, checkApart } from './check-apart.js';
import { choosePlugins } from './choose.js';
import { type ConfigFile, dataDirectoryOf, noFile, readConfigFile } from './config-file.js';
import { editPlugins, type Edited } from './edit-config.js';
import { forgetPluginEnds } from './plugin-ends.js';
import { planSwitch } from './switch.js';
import type { Environment } from './variables.js';
import { listed } from './waiting.js';
import { isObject } from './json-object.js';

/** For the reply to be under way; a stop lets it finish in any case. */
const REPLY_MS = 100;
/** A command of the command line may have the folder just then. */
const FOLDER_LIMIT_MS = 30_000;
const FOLDER_LOOK_MS = 200;

interface Options extends Pick<KernelOptions, 'limits'>, Pick<BootOptions, 'write'> {
  readonly env: Environment;
  readonly log: Log;
  readonly readable: boolean;
  /** ms within which an end of the process counts against the plugin that brought it about */
  readonly early: number;
  /** neither with the new nor with the former config the panel could start again */
  readonly lost: (error: unknown) => void;
  /** asked before a switch and a restart; by default in a process of its own */
  readonly check?: Check;
}

interface Attempt {
  readonly reason: string;
  /** what the panel starts with when it does not start so */
  readonly former: ConfigFile;
  /** what was changed in the config file for it */
  readonly undo?: Edited;
  /** what keeps a panel that did start from being what was wanted */
  readonly problem: (started: Kernel) => string | undefined;
  readonly settle: (problem: string | undefined) => void;
}

const failed = (kernel: Kernel): Map<string, string> =>
  new Map(
    kernel.plugins().flatMap(({ name, state, reason }) => (state === 'failed' ? [[name, reason]] : [])),
  );

export class Program implements PanelProgramApi {
  readonly #options: Options;
  readonly #switches = new Map<string, Switch>();
  #kernel: Kernel | undefined;
  /** what it was started with */
  #file: ConfigFile = noFile;
  /** when the present panel began to start, in ms since 1970 */
  startedAt = Date.now();
  /** of the same moment, as `performance.now()` has it: at first that of the process */
  #begun = 0;
  #forget: NodeJS.Timeout | undefined;
  #busy = false;
  #ending = false;
  #end = (): void => undefined;
  readonly #asked = new Promise<void>((resolve) => (this.#end = resolve));
  #restart: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#kernel = await this.#boot(await readConfigFile(this.#options.env));
  }

  /** Whatever is under way comes to its end first. With `again` the core keeps running: another panel follows. */
  async stop(reason: string, again = false): Promise<void> {
    this.#ending = true;
    this.#end();
    await this.#restart;
    await this.#kernel?.stop(reason, again);
  }

  async renewCertificate(): Promise<void> {
    await this.#kernel?.listeners.renewCertificate();
  }

  /** The panel began to start just now. */
  get isEarly(): boolean {
    return performance.now() - this.#begun < this.#options.early;
  }

  /** Writes a fault down to a plugin; false where it does not run. */
  fault(plugin: string, where: string, error: unknown): boolean {
    return this.#kernel?.fault(plugin, where, error) ?? false;
  }

  listed(plugins: readonly PluginState[]): Promise<readonly ListedPlugin[]> {
    return listed(this.#options.env, plugins);
  }

  switches(): readonly Switch[] {
    return [...this.#switches.values()];
  }

  switchPlugin(name: string, enable: boolean): Promise<Switched | Objection> {
    return this.#alone((kernel) => this.#switch(kernel, name, enable));
  }

  restartPanel(): Promise<Switched | Objection> {
    return this.#alone(async (kernel) => {
      const { env, check = checkApart } = this.#options;
      const { problems } = await check({ env });
      if (problems.length > 0) return { refused: 'would not start', reason: problems.join('; ') };
      this.#soon(kernel, {
        reason: 'a restart was asked for',
        former: this.#file,
        problem: () => undefined,
        settle: () => undefined,
      });
      return { restarting: true };
    });
  }

  async #alone(work: (kernel: Kernel) => Promise<Switched | Objection>): Promise<Switched | Objection> {
    if (this.#busy || this.#ending || !this.#kernel)
      return { refused: 'busy', reason: 'the panel restarts already; try again when it is back' };
    this.#busy = true;
    const done = await work(this.#kernel).catch(
      (error: unknown) => ({ refused: 'not writable', reason: messageOf(error) }) as const,
    );
    if ('refused' in done || !done.restarting) this.#busy = false;
    return done;
  }

  async #switch(kernel: Kernel, name: string, enable: boolean): Promise<Switched | Objection> {
    const { env, check = checkApart } = this.#options;
    const plan = await planSwitch({ env, check, running: kernel.plugins() }, name, enable);
    if ('refused' in plan) return plan;
    if (plan.needless) return { restarting: false };
    if (enable) forgetPluginEnds(dataDirectoryOf(env), [name]);
    const { key, former } = plan;
    const edited = await editPlugins(former.path, (plugins) => ({
      ...plugins,
      [key]: isObject(plugins[key]) ? { ...plugins[key], on: enable } : enable,
    }));
    const state = enable ? 'on' : 'off';
    const before = failed(kernel);
    this.#switches.set(name, { name, enable, problem: '' });
    this.#soon(kernel, {
      reason: `the plugin ${name} is switched ${state}`,
      former,
      undo: edited,
      problem: (started) => [...failed(started)].find(([other]) => other === name || !before.has(other))?.[1],
      settle: (problem) => {
        if (problem === undefined) this.#switches.delete(name);
        else
          this.#switches.set(name, {
            name,
            enable,
            problem: `it could not be switched ${state}, and the former config is in force again: ${problem}`,
          });
      },
    });
    return { restarting: true };
  }

  #soon(kernel: Kernel, attempt: Attempt): void {
    this.#restart = sleep(REPLY_MS)
      .then(() => this.#again(kernel, attempt))
      .catch((error: unknown) => this.#options.lost(error))
      .finally(() => (this.#busy = false));
  }

  async #again(kernel: Kernel, { reason, former, undo, problem: problemOf, settle }: Attempt): Promise<void> {
    if (this.#ending) return;
    const { env, log } = this.#options;
    await kernel.stop(reason, true);
    this.#begun = performance.now();
    this.startedAt = Date.now();
    let problem: string | undefined;
    try {
      this.#kernel = await this.#boot(await readConfigFile(env));
      // A plugin from outside may still be starting; whoever asks for an end does not wait for it.
      await Promise.race([this.#kernel.started, this.#asked]);
      problem = problemOf(this.#kernel);
    } catch (error) {
      problem = messageOf(error);
    }
    settle(problem);
    if (problem === undefined) return log.info('the panel started again', { reason });
    log.error('the panel did not start again as it should; the former config comes back', {
      reason,
      problem,
    });
    await this.#kernel?.stop('the former config comes back', true);
    await undo?.undo().catch((error: unknown) =>
      log.error('the config file could not be put back; do it by hand', {
        file: undo.path,
        problem: messageOf(error),
      }),
    );
    this.#kernel = await this.#boot(former);
  }

  async #boot(file: ConfigFile): Promise<Kernel> {
    const { env, readable, write, limits = {} } = this.#options;
    for (const deadline = Date.now() + FOLDER_LIMIT_MS; ; await sleep(FOLDER_LOOK_MS)) {
      try {
        const kernel = await bootPanel({
          ...(await choosePlugins(env, file)),
          env,
          readable,
          ...(write && { write }),
          limits,
          begun: this.#begun,
          provides: [provide(PanelProgram, this as PanelProgramApi)],
        });
        this.#file = file;
        this.#forgetLater(kernel);
        return kernel;
      } catch (error) {
        // At the first start the folder may be another panel's, and stays so.
        if (!(error instanceof FolderInUse) || !this.#busy || Date.now() > deadline) throw error;
      }
    }
  }
  /** Whoever has run for a while has nothing against it any more. */
  #forgetLater(kernel: Kernel): void {
    clearTimeout(this.#forget);
    const { early, env } = this.#options;
    const left = Math.max(0, this.#begun + early - performance.now());
    this.#forget = setTimeout(() => {
      const running = kernel.plugins().filter(({ state }) => state === 'running');
      forgetPluginEnds(
        dataDirectoryOf(env),
        running.map(({ name }) => name),
      );
    }, left).unref();
  }
}
