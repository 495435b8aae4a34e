// The program around a panel, in the test's own process: what `weir start` runs, with its restarts, but without a process that ends.
import type { Limits } from '../../kernel/plugin/limits.js';
import { check } from '../../panel/check.js';
import type { Check } from '../../panel/check-in-child.js';
import { createLog } from '../../panel/log.js';
import { Program } from '../../panel/program.js';
import { environmentOf } from './api.js';
import { type LogLine, LoggedPanel } from './logged-panel.js';

interface ProgramPanelOptions {
  /** of the caller, who removes it */
  readonly dataDirectory: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
  /** in this process by default, which is quick; plugins that end or block a process need `checkInChild` */
  readonly check?: Check;
}

export class ProgramPanel extends LoggedPanel {
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

  protected override throwIfLost(): void {
    if (this.lost !== undefined) throw this.lost;
  }

  async stop(): Promise<void> {
    await this.#program.stop('end of test');
  }
}
