// Whether the jobs that run now have ended.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobsApi } from '../../kernel/index.js';

const PATIENCE_MS = 5_000;
const LOOK_MS = 20;

export class RunningJobs {
  readonly #jobs: Pick<JobsApi, 'list'>;

  constructor({ jobs }: { jobs: Pick<JobsApi, 'list'> }) {
    this.#jobs = jobs;
  }

  #running(): Set<string> {
    const running = this.#jobs.list().filter(({ runningSince }) => runningSince > 0);
    return new Set(running.map(({ plugin, job, runningSince }) => `${plugin}/${job} ${runningSince}`));
  }

  /** Resolves with false when one of them goes on for too long. Those that begin meanwhile do not count. */
  async ended(patienceMs: number = PATIENCE_MS): Promise<boolean> {
    const first = this.#running();
    for (const deadline = performance.now() + patienceMs; ; await sleep(LOOK_MS)) {
      const now = this.#running();
      if (![...first].some((run) => now.has(run))) return true;
      if (performance.now() > deadline) return false;
    }
  }
}
