// Where an install is, for the live stream and for those who ask.
import type { LiveOutput } from '../realtime/contract.js';

export const STEPS = [
  'list',
  'digest',
  'download',
  'unpack',
  'test',
  'stop',
  'start',
  'check',
  'back',
  'done',
  'failed',
] as const;
export type Step = (typeof STEPS)[number];

export interface Progress {
  /** empty while `latest` is not known yet */
  readonly version: string;
  readonly step: Step;
  /** of the archive */
  readonly received: number;
  /** size of the archive; 0 when the server does not say */
  readonly size: number;
  /** why it failed; else empty */
  readonly error: string;
}

const SEND_EVERY_MS = 250;

export class InstallProgress {
  /** undefined while no plugin sends live messages */
  output: LiveOutput | undefined;
  #now: Progress | undefined;
  #sentAt = 0;

  /** of the present or the last install; undefined when there was none since the start */
  get now(): Progress | undefined {
    return this.#now;
  }

  begin(version: string): void {
    this.#now = { version, step: 'list', received: 0, size: 0, error: '' };
    this.#send();
  }

  change(change: Partial<Progress>): void {
    if (!this.#now) return;
    const isStep = change.step !== undefined && change.step !== this.#now.step;
    this.#now = { ...this.#now, ...change };
    if (isStep || Date.now() - this.#sentAt >= SEND_EVERY_MS) this.#send();
  }

  #send(): void {
    this.#sentAt = Date.now();
    this.output?.send(this.#now);
  }
}
