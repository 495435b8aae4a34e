// The life of the program around the panel: its start, its restart in this process with another set of plugins, its end.
import { setTimeout as sleep } from 'node:timers/promises';
import { FolderInUse } from '../kernel/database/lock.js';
import { messageOf } from '../kernel/errors/errors.js';
import { provide } from '../kernel/container/token.js';
import type { Kernel, KernelOptions } from '../kernel/kernel.js';
import type { Log } from '../kernel/log/log.js';
import { type Objection, type PanelProgramApi, PanelProgram, type Switch, type Switched } from '../plugins/system/contract.js';
import { bootPanel } from './boot.js';
import { choosePlugins } from './choose.js';
import { type ConfigFile, readConfigFile } from './config-file.js';
import { editPlugins, type Edited } from './edit-config.js';
import { planSwitch } from './switch.js';
import type { Environment } from './variables.js';

/** For the reply to be under way; a stop lets it finish in any case. */
const REPLY_MS = 100;
/** A command of the command line may have the folder just then. */
const FOLDER_LIMIT_MS = 30_000;
const FOLDER_LOOK_MS = 200;

interface Options extends Pick<KernelOptions, 'limits'> {
  readonly env: Environment;
  readonly log: Log;
  readonly readable: boolean;
  /** neither with the new nor with the former config the panel could start again */
  readonly lost: (error: unknown) => void;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
const failed = (kernel: Kernel): Map<string, string> =>
  new Map(kernel.plugins().flatMap(({ name, state, reason }) => (state === 'failed' ? [[name, reason]] : [])));

export class Program implements PanelProgramApi {
  readonly #options: Options;
  readonly #switches = new Map<string, Switch>();
  #kernel: Kernel | undefined;
  #busy = false;
  #ending = false;
  #restart: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#kernel = await this.#boot(await readConfigFile(this.#options.env));
  }

  /** Whatever is under way comes to its end first. */
  async stop(reason: string): Promise<void> {
    this.#ending = true;
    await this.#restart;
    await this.#kernel?.stop(reason);
  }

  async renewCertificate(): Promise<void> {
    await this.#kernel?.listeners.renewCertificate();
  }

  switches(): readonly Switch[] {
    return [...this.#switches.values()];
  }

  async switchPlugin(name: string, enable: boolean): Promise<Switched | Objection> {
    if (this.#busy || this.#ending || !this.#kernel) return { refused: 'busy', reason: 'the panel restarts already; try again when it is back' };
    this.#busy = true;
    const done = await this.#prepare(this.#kernel, name, enable).catch((error: unknown) => ({ refused: 'not writable', reason: messageOf(error) }) as const);
    if ('refused' in done || !done.restarting) this.#busy = false;
    return done;
  }

  async #prepare(kernel: Kernel, name: string, enable: boolean): Promise<Switched | Objection> {
    const plan = await planSwitch(this.#options.env, kernel.plugins(), name, enable);
    if ('refused' in plan) return plan;
    if (plan.needless) return { restarting: false };
    const { key, former } = plan;
    const edited = await editPlugins(former.path, (plugins) => ({
      ...plugins,
      [key]: isObject(plugins[key]) ? { ...plugins[key], on: enable } : enable,
    }));
    const wanted: Switch = { name, enable, problem: '' };
    this.#switches.set(name, wanted);
    this.#restart = sleep(REPLY_MS)
      .then(() => this.#again(kernel, wanted, former, edited))
      .catch((error: unknown) => this.#options.lost(error))
      .finally(() => (this.#busy = false));
    return { restarting: true };
  }

  async #again(kernel: Kernel, wanted: Switch, former: ConfigFile, edited: Edited): Promise<void> {
    if (this.#ending) return;
    const { name, enable } = wanted;
    const state = enable ? 'on' : 'off';
    const before = failed(kernel);
    await kernel.stop(`the plugin ${name} is switched ${state}`, true);
    let problem: string | undefined;
    try {
      this.#kernel = await this.#boot(await readConfigFile(this.#options.env));
      const [worse] = [...failed(this.#kernel)].filter(([other]) => other === name || !before.has(other));
      problem = worse?.[1];
    } catch (error) {
      problem = messageOf(error);
    }
    if (problem === undefined) {
      this.#switches.delete(name);
      this.#options.log.info('a plugin was switched', { plugin: name, state });
      return;
    }
    this.#options.log.error('a plugin was not switched, for the panel did not start as it should; the former config comes back', {
      plugin: name,
      state,
      problem,
    });
    this.#switches.set(name, { ...wanted, problem: `it could not be switched ${state}, and the former config is in force again: ${problem}` });
    await this.#kernel?.stop('the former config comes back', true);
    await edited
      .undo()
      .catch((error: unknown) =>
        this.#options.log.error('the config file could not be put back; do it by hand', { file: edited.path, problem: messageOf(error) }),
      );
    this.#kernel = await this.#boot(former);
  }

  async #boot(file: ConfigFile): Promise<Kernel> {
    const { env, readable, limits = {} } = this.#options;
    for (const deadline = Date.now() + FOLDER_LIMIT_MS; ; await sleep(FOLDER_LOOK_MS)) {
      try {
        return await bootPanel({ ...(await choosePlugins(env, file)), env, readable, limits, provides: [provide(PanelProgram, this as PanelProgramApi)] });
      } catch (error) {
        // At the first start the folder may be another panel's, and stays so.
        if (!(error instanceof FolderInUse) || !this.#busy || Date.now() > deadline) throw error;
      }
    }
  }
}
