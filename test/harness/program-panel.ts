// The program around a panel, in the test's own process: what `weir start` runs, with its restarts, but without a process that ends.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Limits } from '../../kernel/plugin/limits.js';
import { check } from '../../panel/check.js';
import type { Check } from '../../panel/check-in-child.js';
import { createLog } from '../../panel/log.js';
import { Program } from '../../panel/program.js';
import { environmentOf, PanelApi, type Told } from './api.js';
import type { LogLine, ReadyLine } from './panel-process.js';

const PATIENCE_MS = 20_000;

interface ProgramPanelOptions {
  /** of the caller, who removes it */
  readonly dataDirectory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
  /** in this process by default, which is quick; plugins that end or block a process need `checkInChild` */
  readonly check?: Check;
}

export class ProgramPanel extends PanelApi {
  readonly log: LogLine[] = [];
  /** why the program has no panel any more, where it has none */
  lost: unknown;
  readonly #program: Program;

  private constructor({ dataDirectory, env = {}, limits = {}, check: checks = check }: ProgramPanelOptions) {
    super();
    const write = (line: string) => void this.log.push(JSON.parse(line) as LogLine);
    this.#program = new Program({
      env: { PATH: process.env['PATH'], ...environmentOf(dataDirectory), ...env },
      log: createLog({ level: 'info', readable: false, write }),
      write,
      readable: false,
      limits,
      lost: (error) => (this.lost = error),
      early: 60_000,
      check: checks,
    });
  }

  /** Resolves when the panel is ready, logged in. */
  static async start(options: ProgramPanelOptions): Promise<ProgramPanel> {
    const panel = new ProgramPanel(options);
    await panel.#program.start();
    try {
      await panel.login();
      return panel;
    } catch (error) {
      await panel.stop();
      throw error;
    }
  }

  /** of the last start */
  get ready(): ReadyLine {
    return this.log.findLast(({ msg }) => msg === 'ready') as ReadyLine;
  }
  override get url(): string {
    return this.ready.panelUrl.replace(/\/$/, '');
  }
  /** How often the panel has started. */
  get starts(): number {
    return this.log.filter(({ msg }) => msg === 'ready').length;
  }

  /** The first line of the log with this message. */
  said(message: string): LogLine | undefined {
    return this.log.find(({ msg }) => msg === message);
  }
  protected override told(): readonly Told[] {
    return this.log as readonly Told[];
  }

  /** Waits for a condition with a deadline that only a broken panel meets. */
  async until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await condition())) {
      if (this.lost !== undefined) throw this.lost;
      if (Date.now() > deadline)
        throw new Error(
          `did not happen within ${PATIENCE_MS / 1000} s: ${what}; the last lines of the log: ${this.log
            .slice(-8)
            .map((line) => JSON.stringify(line))
            .join('\n')}`,
        );
      await sleep(20);
    }
  }

  async stop(): Promise<void> {
    await this.#program.stop('end of test');
  }
}
