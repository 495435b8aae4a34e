// A whole panel with a real core, in the test's own process: for all but signals, exit codes and a killed panel, which
// need a PanelProcess. A second panel here costs a tenth of a process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kernel } from '../../kernel/kernel.js';
import { bootPanel } from '../../panel/boot.js';
import { choosePlugins } from '../../panel/choose-plugins.js';
import { readConfigFile } from '../../panel/config-file.js';
import { environmentOf, PanelApi } from '../harness/api.js';
import { databaseEnvironment, dropDatabase } from '../harness/database.js';
import type { LogLine, ReadyLine } from '../harness/panel-process.js';
import { corePidIn } from '../harness/core-pid.js';

/** Where a test's resources are closed: `t`, or `teardownOfFile(test)` for what several tests share. */
export interface Teardown {
  teardown(close: () => unknown): void;
}

export interface CorePanelOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** a folder of a previous panel, or with a `weir.json`; else a folder is made */
  readonly dataDirectory?: string;
}

/** Longer than two polls. */
const PATIENCE_MS = 20_000;
const LAST_LINES = 8;

export class CorePanel extends PanelApi {
  readonly kernel: Kernel;
  readonly dataDirectory: string;
  readonly log: readonly LogLine[];

  private constructor(kernel: Kernel, dataDirectory: string, log: readonly LogLine[]) {
    super();
    this.kernel = kernel;
    this.dataDirectory = dataDirectory;
    this.log = log;
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
    const kernel = await bootPanel({
      ...(await choosePlugins(env, await readConfigFile(env))),
      env,
      selfChecks: true,
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
  get ready(): ReadyLine {
    const line = this.said('ready');
    if (!line) throw new Error('the panel is not ready');
    return line as ReadyLine;
  }

  /** Stops the panel and its core. */
  stop(): Promise<void> {
    return this.kernel.stop('end of test');
  }
  /** Stops the panel and leaves its core to the next one. */
  leave(): Promise<void> {
    return this.kernel.stop('the next panel takes over', true);
  }

  /** The first line of the log with this message. */
  said(message: string): LogLine | undefined {
    return this.log.find(({ msg }) => msg === message);
  }

  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    for (const deadline = Date.now() + PATIENCE_MS; !(await condition()); await sleep(50))
      if (Date.now() > deadline)
        throw new Error(
          `did not happen within ${PATIENCE_MS / 1000} s: ${what}; the end of the log: ${this.log
            .slice(-LAST_LINES)
            .map((line) => JSON.stringify(line))
            .join('\n')}`,
        );
  }

  /** Process id of the core that runs for this data folder; undefined when none does. */
  corePid(): Promise<number | undefined> {
    return corePidIn(this.dataDirectory);
  }

  protected override told(): readonly LogLine[] {
    return this.log;
  }
}
