// A whole panel for a test: its own data folder, free ports, an admin who is logged in.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { Kernel } from '../../kernel/kernel.js';
import { bootPanel } from '../../panel/boot.js';
import { readPreset } from '../../panel/choose-plugins.js';
import { findPlugins } from '../../panel/find-plugins.js';
import { asThirdParty } from '../../panel/third-party.js';
import type { Clock } from '../../timing/clock.js';
import { PluginError } from '../../kernel/plugin/error.js';
import type { Plugin } from '../../kernel/plugin/define.js';
import type { Limits } from '../../kernel/plugin/limits.js';
import { environmentOf, PanelApi, type Told } from './api.js';
import { databaseEnvironment, dropDatabase } from './database.js';
import { warnWhenStale } from './fresh.js';

export { ADMIN, type Answer, type CallOptions, freePort } from './api.js';

/** A test that needs a core names one in its `env`: to start one costs a third of a boot. */
const NO_CORE = { WEIR_ENGINE_BIN: '/nonexistent/core', WEIR_ENGINE_INSTALL: 'off' };

/** On a machine that many tests share, a built-in plugin may take longer than in life. */
const PATIENT = { during: 20_000 };

export interface PanelOptions {
  /** take the place of the built-in plugins of the same name, or come in addition */
  readonly plugins?: readonly Plugin[];
  /** plugins of others, held to the names that the config file would hold them to */
  readonly outside?: readonly Plugin[];
  /** built-in plugins that are left out */
  readonly without?: readonly string[];
  /** plugins may fail and be left out; else that is a failure of the boot */
  readonly partial?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** do not log in */
  readonly anonymous?: boolean;
  /** how many ms others wait for a plugin that hangs; tests have less patience than a panel */
  readonly limits?: Partial<Limits>;
  /** a folder that outlives the panel, for tests of restarts */
  readonly dataDirectory?: string;
}

export class TestPanel extends PanelApi {
  static #looked: Promise<void> | undefined;
  readonly kernel: Kernel;
  readonly dataDirectory: string;
  readonly log: string[];

  private constructor(kernel: Kernel, dataDirectory: string, log: string[]) {
    super();
    this.kernel = kernel;
    this.dataDirectory = dataDirectory;
    this.log = log;
  }

  static async boot(options: PanelOptions = {}): Promise<TestPanel> {
    // There is no umask, and the driver of SQLite ends the whole process when a thread is stopped while it works.
    if (!isMainThread)
      throw new Error(
        'a panel does not run in a worker thread; for ava write "workerThreads": false below "ava" in package.json',
      );
    await (TestPanel.#looked ??= warnWhenStale());
    if (options.dataDirectory !== undefined) return TestPanel.#bootIn(options.dataDirectory, options);
    const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
    try {
      return await TestPanel.#bootIn(dataDirectory, options);
    } catch (error) {
      await dropDatabase(dataDirectory);
      await rm(dataDirectory, { recursive: true, force: true });
      throw error;
    }
  }

  static async #bootIn(dataDirectory: string, options: PanelOptions): Promise<TestPanel> {
    const replaced = new Map((options.plugins ?? []).map((plugin) => [plugin.name, plugin]));
    const builtIn = await findPlugins(
      (await readPreset('standard')).filter(
        (name) => !replaced.has(name) && !options.without?.includes(name),
      ),
    );
    const log: string[] = [];
    const env = {
      ...environmentOf(dataDirectory),
      ...NO_CORE,
      ...(await databaseEnvironment(dataDirectory)),
      ...options.env,
    };
    const plugins = [
      ...builtIn,
      ...replaced.values(),
      ...(options.outside ?? []).map((plugin) => asThirdParty(plugin, plugin.name)),
    ];
    const { clock, limits } = options;
    const kernel = await bootPanel({
      plugins,
      env,
      write: (line) => void log.push(line),
      selfChecks: true,
      ...(clock && { clock }),
      limits: { ...PATIENT, ...limits },
    });
    const failed = kernel.plugins().find(({ state }) => state === 'failed');
    if (failed && !options.partial) {
      await kernel.stop('a plugin is left out');
      throw new PluginError(failed.reason);
    }
    const panel = new TestPanel(kernel, dataDirectory, log);
    if (!options.anonymous) await panel.login();
    return panel;
  }

  override get url(): string {
    return `http://127.0.0.1:${this.kernel.listeners.panel.port}`;
  }
  get subscriptionUrl(): string {
    return `http://127.0.0.1:${this.kernel.listeners.port('subscription')}`;
  }

  protected override told(): readonly Told[] {
    return this.log.map((line) => JSON.parse(line) as Told);
  }

  /** Ends the panel and leaves its data. */
  stop(): Promise<void> {
    return this.kernel.stop('end of test');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await dropDatabase(this.dataDirectory);
    await rm(this.dataDirectory, { recursive: true, force: true });
  }
}
