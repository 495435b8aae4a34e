// A panel whose log a test reads line by line.
import { setTimeout as sleep } from 'node:timers/promises';
import { PanelApi, type Told } from './api.js';

/** One line of the panel's log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };
/** The line that says the panel is ready. */
export type ReadyLine = LogLine & {
  readonly panelUrl: string;
  readonly subUrl: string;
  readonly engine: string;
  readonly engineProblem?: string;
};

/** Longer than two polls, which come every five seconds. */
const PATIENCE_MS = 20_000;
const LAST_LINES = 8;

export abstract class LoggedPanel extends PanelApi {
  readonly log: LogLine[];

  constructor(log: LogLine[] = []) {
    super();
    this.log = log;
  }

  /** of the last start, where the panel has started again in its process */
  get ready(): ReadyLine {
    const line = this.log.findLast(({ msg }) => msg === 'ready');
    if (!line) throw new Error('the panel is not ready');
    return line as ReadyLine;
  }
  override get url(): string {
    return this.ready.panelUrl.replace(/\/$/, '');
  }
  /** How often the panel has started in this process. */
  get starts(): number {
    return this.log.filter(({ msg }) => msg === 'ready').length;
  }
  /** What was written beside the log, to the standard error included. */
  get words(): string {
    return '';
  }

  /** The first line of the log with this message. */
  said(message: string): LogLine | undefined {
    return this.log.find(({ msg }) => msg === message);
  }
  protected override told(): readonly Told[] {
    return this.log as readonly Told[];
  }

  /** Waits for a condition with a deadline that only a broken panel meets. */
  async until(condition: () => boolean | Promise<boolean>, what: string, limit = PATIENCE_MS): Promise<void> {
    const deadline = Date.now() + limit;
    while (!(await condition())) {
      this.throwIfLost();
      if (Date.now() > deadline)
        throw new Error(
          `did not happen within ${limit / 1000} s: ${what}; the end of the log: ${this.log
            .slice(-LAST_LINES)
            .map((line) => JSON.stringify(line))
            .join('\n')} ${this.words}`,
        );
      await sleep(50);
    }
  }

  /** Throws when no condition can come true any more. */
  protected throwIfLost(): void {}
}
