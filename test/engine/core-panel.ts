// A whole panel with a real core, in the test's own process: for all but signals, exit codes and a killed panel, which
// need a PanelProcess. A second panel here costs a tenth of a process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kernel } from '../../kernel/kernel.js';
import type { Plugin } from '../../kernel/plugin/define.js';
import type { Clock } from '../../timing/clock.js';
import { bootPanel } from '../../panel/boot.js';
import { choosePlugins } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { environmentOf } from '../harness/api.js';
import { databaseEnvironment, dropDatabase } from '../harness/database.js';
import { type LogLine, LoggedPanel } from '../harness/logged-panel.js';
import { corePidIn } from '../harness/core-pid.js';

/** Where a test's resources are closed: `t`, or `teardownOfFile(test)` for what several tests share. */
export interface Teardown {
  teardown(close: () => unknown): void;
}

export interface CorePanelOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** a folder of a previous panel, or with a `weir.json`; else a folder is made */
  readonly dataDirectory?: string;
  /** in addition to those of the preset */
  readonly plugins?: readonly Plugin[];
  /** of the panel; the core has the machine's */
  readonly clock?: Clock;
}

export class CorePanel extends LoggedPanel {
  readonly kernel: Kernel;
  readonly dataDirectory: string;

  private constructor(kernel: Kernel, dataDirectory: string, log: LogLine[]) {
    super(log);
    this.kernel = kernel;
    this.dataDirectory = dataDirectory;
  }

  /** Boots a panel with the plugins of the preset and of the folder's config file, and logs in. Stopped by `t.teardown`, with its core. */
  static async boot(t: Teardown, options: CorePanelOptions = {}): Promise<CorePanel> {
    const dataDirectory = options.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'weir-test-')));
    t.teardown(async () => {
      await dropDatabase(dataDirectory);
      await rm(dataDirectory, { recursive: true, force: true });
    });
    t.teardown(async () => {
      const pid = await corePidIn(dataDirectory);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    });
    const env = {
      ...environmentOf(dataDirectory),
      ...(await databaseEnvironment(dataDirectory)),
      PATH: process.env['PATH'] ?? '',
      WEIR_ENGINE_BIN: process.env['WEIR_ENGINE_BIN'] ?? '',
      WEIR_ENGINE_PRIVATE: 'allow',
      ...options.env,
    };
    const log: LogLine[] = [];
    const chosen = await choosePlugins(env, await readConfigFile(env));
    const { plugins = [] } = options;
    const others = chosen.plugins.filter(({ name }) => !plugins.some((own) => own.name === name));
    const kernel = await bootPanel({
      ...chosen,
      plugins: [...others, ...plugins],
      env,
      selfChecks: true,
      ...(options.clock && { clock: options.clock }),
      write: (line) => void log.push(JSON.parse(line) as LogLine),
    });
    const panel = new CorePanel(kernel, dataDirectory, log);
    t.teardown(() => panel.stop());
    await panel.login();
    return panel;
  }

  override get url(): string {
    return `http://127.0.0.1:${this.kernel.listeners.panel.port}`;
  }
  /** Stops the panel and its core. */
  stop(): Promise<void> {
    return this.kernel.stop('end of test');
  }
  /** Stops the panel and leaves its core to the next one. */
  leave(): Promise<void> {
    return this.kernel.stop('the next panel takes over', true);
  }

  /** Process id of the core that runs for this data folder; undefined when none does. */
  corePid(): Promise<number | undefined> {
    return corePidIn(this.dataDirectory);
  }
}
