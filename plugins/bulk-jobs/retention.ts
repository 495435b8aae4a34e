// Removes jobs that ended long ago, or that are too many, in short writes.
import type { Clock, Database, LiveSettings } from '../../kernel/index.js';
import type { JobFacts, JobStore } from './job-store.js';
import type { JobTargets } from './job-targets.js';
import type { bulkJobSettings } from './settings.js';
import type { SkippedClients } from './skipped-clients.js';
import { OPEN } from './tables.js';

const DAY_MS = 86_400_000;
const MOST_ENDED = 200;
/** Rows of skipped clients, of all jobs that ended. */
const MOST_LISTED = 1_000_000;

export class Retention {
  readonly #needs: {
    readonly db: Database;
    readonly clock: Clock;
    readonly settings: LiveSettings<typeof bulkJobSettings>;
    readonly store: JobStore;
    readonly targets: JobTargets;
    readonly skipped: SkippedClients;
  };

  constructor({
    db,
    clock,
    settings,
    store,
    targets,
    skipped,
  }: {
    db: Database;
    clock: Clock;
    settings: LiveSettings<typeof bulkJobSettings>;
    store: JobStore;
    targets: JobTargets;
    skipped: SkippedClients;
  }) {
    this.#needs = { db, clock, settings, store, targets, skipped };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { db, store, targets, skipped } = this.#needs;
    for (const { id } of this.#tooMany()) {
      while (!signal.aborted && (await skipped.removeSome(id)));
      if (signal.aborted) return;
      await db.write(async (tx) => {
        await targets.remove(tx, id);
        await store.remove(tx, id);
      });
    }
  }

  #tooMany(): JobFacts[] {
    const { clock, settings, store } = this.#needs;
    const oldest = clock.now() - settings.read().bulkJobDays * DAY_MS;
    let kept = 0;
    let listed = 0;
    // The newest first.
    return store
      .all()
      .reverse()
      .filter((job) => {
        if (OPEN.includes(job.state)) return false;
        kept++;
        listed += job.listed;
        return kept > MOST_ENDED || listed > MOST_LISTED || (job.endedAt ?? 0) < oldest;
      });
  }
}
