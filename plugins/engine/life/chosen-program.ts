// Which program is the core: found at the start, replaced while the panel runs, remembered for the next start.
import { join, resolve } from 'node:path';
import { type Log, messageOf, type PluginContext, SerialQueue } from '../../../kernel/index.js';
import type { ProcessesApi } from '../../processes/contract.js';
import type { Accounts } from '../users/accounts.js';
import type { CoreProgram, CoreProgramsApi, CoreSource } from '../contract.js';
import type { SwapStep } from './core-swap.js';
import { type Choice, installedCore, readChoice, writeChoice } from '../install/chosen-core.js';
import { type CoreConfig, findCore, type FoundCore } from '../install/find.js';
import type { Supervisor } from './supervisor.js';
import { EngineFolder } from '../xray/folder.js';
import { coreSlot } from '../xray/record.js';
import { XrayDriver } from '../xray/xray-driver.js';

interface Needs extends Pick<PluginContext, 'dataDirectory'> {
  readonly log: Log;
  readonly config: CoreConfig;
  readonly configSource: Readonly<Record<string, string>>;
  readonly supervisor: Supervisor;
  readonly accounts: Accounts;
  readonly processes: ProcessesApi;
}

export class ChosenProgram implements CoreProgramsApi {
  readonly #needs: Needs;
  #present: CoreProgram | undefined;
  readonly #queue = new SerialQueue();

  constructor({ log, config, configSource, supervisor, accounts, processes, dataDirectory }: Needs) {
    this.#needs = { log, config, configSource, supervisor, accounts, processes, dataDirectory };
  }

  get present(): CoreProgram | undefined {
    return this.#present;
  }

  get source(): CoreSource {
    const { config, configSource } = this.#needs;
    return {
      releases: config.releases,
      isPinned: configSource['releases'] !== 'default',
      sha256: config.sha256?.toLowerCase() ?? '',
      mayDownload: config.install === 'on',
      program: config.binary ?? '',
    };
  }

  choice(): Promise<Choice> {
    return readChoice(this.#needs.dataDirectory, this.#needs.log);
  }

  /** Finds and starts the core, or adopts a running one. Never rejects. */
  open(): Promise<void> {
    return this.#queue.run(() => this.#open());
  }

  /** Stops a core that an earlier start of this panel has left running, after a last poll. Never rejects. */
  stopLeft(reason: string): Promise<void> {
    return this.#queue.run(async () => {
      const { supervisor, log } = this.#needs;
      try {
        const left = await this.#slot.recorded();
        if (left?.alive === true && left.note.binary !== undefined) {
          log.info('stopping the core that was left running', { reason });
          await supervisor.open(this.#driver(left.note.binary));
          await supervisor.stop(reason);
        }
        await this.#slot.endStrays();
      } catch (error) {
        log.error('a core that was left running cannot be stopped', { reason: messageOf(error) });
      } finally {
        supervisor.absent(reason);
      }
    });
  }

  async #open(): Promise<void> {
    const { supervisor, log } = this.#needs;
    try {
      await this.#settleTrial();
      const found = await this.#find();
      if ('missing' in found) {
        log.warn('no core found; the panel runs without one', { reason: found.missing });
        return supervisor.absent(found.missing);
      }
      log.info('core found', { binary: found.binary, source: found.source });
      this.#present = found;
      await supervisor.open(this.#driver(found.binary));
    } catch (error) {
      log.error('the core cannot be used', { reason: messageOf(error) });
      supervisor.absent(messageOf(error));
    }
  }

  #find(): Promise<FoundCore | { readonly missing: string }> {
    const { config, dataDirectory, log } = this.#needs;
    // To stderr, not to the log: for people who wait for the first start.
    const report = (message: string, data: object = {}) =>
      void process.stderr.write(`${message} ${JSON.stringify(data)}\n`);
    return findCore({ config, dataDirectory, log: { info: report, warn: log.warn } });
  }

  get #folder(): string {
    return join(this.#needs.dataDirectory, 'engine');
  }

  #driver(binary: string): XrayDriver {
    const { log, accounts, processes } = this.#needs;
    return new XrayDriver({ binary, directory: this.#folder, log, accounts, processes });
  }

  async #remember(choice: Choice): Promise<void> {
    await writeChoice(this.#needs.dataDirectory, choice).catch((error: unknown) =>
      this.#needs.log.warn('the choice of the core could not be stored', { reason: messageOf(error) }),
    );
  }

  get #slot() {
    const { processes, log } = this.#needs;
    return coreSlot(processes, new EngineFolder(resolve(this.#folder)), log);
  }

  async #runs(binary: string): Promise<boolean> {
    const recorded = await this.#slot.recorded();
    return recorded?.alive === true && recorded.note.binary === resolve(binary);
  }

  /**
   * A panel was killed while it tried another core. If that core runs and answers, it becomes the chosen one, and is adopted
   * then; otherwise it is stopped, and the previous one is used.
   */
  async #settleTrial(): Promise<void> {
    const { log, config, dataDirectory } = this.#needs;
    const { trying, ...choice } = await this.choice();
    if (trying === '') return;
    const binary = resolve(installedCore(dataDirectory, trying));
    const problem =
      config.binary === undefined && (await this.#runs(binary))
        ? await this.#problemOf(binary)
        : 'it does not run';
    if (problem === undefined) log.info('the install of another core is complete', { version: trying });
    else
      log.warn('the install of another core was interrupted; using the previous core', {
        version: trying,
        reason: problem,
      });
    await this.#remember({ ...choice, ...(problem === undefined && { chosen: trying }), trying: '' });
  }

  /** Why the running core does not serve; it is stopped then. */
  async #problemOf(binary: string): Promise<string | undefined> {
    const driver = this.#driver(binary);
    try {
      // Kills a core that does not answer.
      if ((await driver.adopt()) === undefined) return 'it does not answer';
      await driver.checkApi();
      driver.detach();
      return undefined;
    } catch (error) {
      await driver.stop();
      return messageOf(error);
    }
  }

  async use(version: string, onStep: (step: SwapStep) => void): Promise<void> {
    const { supervisor, dataDirectory } = this.#needs;
    const before = { ...(await this.choice()), trying: '' };
    const previous = supervisor.status().version;
    const binary = resolve(installedCore(dataDirectory, version));
    let isTrying = false;
    try {
      await supervisor.swap(this.#driver(binary), `core ${version} is installed`, async (step) => {
        // Before the running core stops: a panel that is killed from here on knows what was going on.
        if (step === 'stop') {
          isTrying = true;
          await writeChoice(dataDirectory, { ...before, previous, trying: version });
        }
        onStep(step);
      });
    } catch (error) {
      if (isTrying) await this.#remember(before);
      throw error;
    }
    this.#present = { binary, source: 'installed' };
    await this.#remember({ chosen: version, previous, trying: '' });
  }
}
