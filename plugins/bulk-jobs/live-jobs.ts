// Jobs in the live stream: those that wait or run, and the last that ended.
import type { LiveOutput, LiveType } from '../realtime/contract.js';
import { replyOf } from './job-replies.js';
import type { JobStore } from './job-store.js';
import { OPEN } from './tables.js';

const SHOWN_ENDED = 5;

export class LiveJobs {
  readonly #store: JobStore;
  #output: LiveOutput | undefined;

  constructor({ store }: { store: JobStore }) {
    this.#store = store;
  }

  readonly type: LiveType = {
    type: 'client_jobs',
    snapshot: () => this.#shown(),
    start: (output) => void (this.#output = output),
  };

  /** Call it after each change. */
  changed(): void {
    this.#output?.send(() => this.#shown());
  }

  #shown() {
    const jobs = this.#store.all();
    const ended = jobs
      .filter(({ state }) => !OPEN.includes(state))
      .sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.id - b.id)
      .slice(-SHOWN_ENDED);
    return [...ended, ...jobs.filter(({ state }) => OPEN.includes(state))].map(replyOf);
  }
}
