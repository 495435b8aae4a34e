// Does the jobs, one after the other and portion by portion. Where a job stands is in the database alone: a portion is
// taken away in the transaction of its change, so each client is done once, however the panel ends.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Clock,
  type Database,
  type Log,
  messageOf,
  PanelError,
  storageFailure,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { BulkAction, ClientPortionsApi, PortionOutcome } from '../clients/contract.js';
import type { JobFacts, JobStore } from './job-store.js';
import { type Block, type JobTargets, PORTION } from './job-targets.js';
import type { LiveJobs } from './live-jobs.js';
import { counted } from './reasons.js';
import { recordChange } from './recorded.js';
import { type Listed, shortened, type SkippedClients } from './skipped-clients.js';

const PAUSES_MS = [250, 1_000, 4_000];
/** Clients in a row that fail with an error that is not a refusal. */
const MOST_BUGS = 20;
const GOING: readonly JobFacts['state'][] = ['running', 'stopping'];

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly portions: ClientPortionsApi;
  readonly store: JobStore;
  readonly targets: JobTargets;
  readonly skipped: SkippedClients;
  readonly live: LiveJobs;
  readonly audit?: AuditTrailApi | undefined;
}

export class JobRunner {
  readonly #needs: Needs;
  readonly #stop = new AbortController();
  #isReady = false;
  #isWoken = false;
  #running: Promise<void> | undefined;
  /** clients of the next portion: fewer after a refusal, so that it concerns the client that it is about */
  #size = PORTION;
  /** since the last portion that was done */
  #failures = 0;
  #bugs = 0;

  constructor({ db, clock, log, portions, store, targets, skipped, live, audit }: Needs) {
    this.#needs = { db, clock, log, portions, store, targets, skipped, live, audit };
  }

  /** Call it when everything runs: the guards of all plugins are to be asked. */
  start(): void {
    this.#isReady = true;
    this.wake();
  }

  /** Resolves when the portion under way is written. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Looks for jobs that are open. */
  wake(): void {
    this.#isWoken = true;
    if (!this.#isReady || this.#stop.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  async #run(): Promise<void> {
    this.#isWoken = false;
    while (!this.#stop.signal.aborted) {
      try {
        const job = this.#needs.store.next();
        if (!job) return;
        await this.#step(job);
        this.#needs.live.changed();
        await new TimeSlice().next();
      } catch (error) {
        if (!storageFailure(error)) this.#needs.log.error('a step of a job failed', { error });
        await this.#pause();
      }
    }
  }

  async #step(job: JobFacts): Promise<void> {
    const { clock, targets } = this.#needs;
    if (job.state === 'waiting') {
      this.#size = PORTION;
      return this.#change(job, ['waiting'], { state: 'running', startedAt: clock.now() });
    }
    if (job.state === 'stopping') return this.#end(job, 'stopped');
    const block = await targets.next(job.id);
    return block ? this.#portion(job, block) : this.#end(job, 'done');
  }

  async #portion(job: JobFacts, block: Block): Promise<void> {
    const { portions, store } = this.#needs;
    const part = block.targets.slice(0, this.#size);
    const action = { name: job.action, params: job.params } as BulkAction;
    try {
      const filter = await store.filterOf(job.id);
      await portions.run({ action, targets: part, filter }, job.who, (tx, outcome) =>
        this.#settle(tx, job, block, part.length, outcome),
      );
      this.#size = Math.min(part.length * 2, PORTION);
      this.#failures = this.#bugs = 0;
    } catch (error) {
      await this.#failed(job, block, part.length, error);
    }
  }

  /** Within the transaction of the change. */
  async #settle(tx: Tx, job: JobFacts, block: Block, count: number, outcome: PortionOutcome): Promise<void> {
    const listed = outcome.skipped.map(
      ({ isPartly, ...client }): Listed => ({ ...client, outcome: isPartly ? 'partly' : 'skipped' }),
    );
    const skipped = outcome.skipped.filter(({ isPartly }) => !isPartly).length;
    await this.#count(tx, job, block, count, listed, { ...outcome, skipped, failed: 0 });
  }

  async #count(
    tx: Tx,
    job: JobFacts,
    block: Block,
    count: number,
    listed: readonly Listed[],
    more: Pick<JobFacts, 'changed' | 'unchanged' | 'skipped' | 'failed'>,
  ): Promise<void> {
    const { store, targets, skipped } = this.#needs;
    await targets.take(tx, job.id, block, count);
    await skipped.insert(tx, job.id, job.listed, listed);
    const isGoing = await store.change(tx, job.id, GOING, {
      changed: job.changed + more.changed,
      unchanged: job.unchanged + more.unchanged,
      skipped: job.skipped + more.skipped,
      failed: job.failed + more.failed,
      listed: job.listed + listed.length,
      reasons: listed.length === 0 ? job.reasons : counted(job.reasons, listed),
    });
    if (!isGoing) throw new Error(`job ${job.id} has ended`);
  }

  /** A refusal is about one client, or about all of them: halves are tried until it is known. */
  async #failed(job: JobFacts, block: Block, count: number, error: unknown): Promise<void> {
    const { log } = this.#needs;
    if (storageFailure(error)) return this.#pause();
    const isRefusal = error instanceof PanelError && error.status < 500;
    if (!isRefusal) {
      if (this.#failures === 0) log.error('a portion of a job failed', { job: job.id, error });
      if (this.#failures < PAUSES_MS.length) return this.#pause();
    }
    if (count > 1) {
      this.#size = Math.floor(count / 2);
      return;
    }
    if (!isRefusal && ++this.#bugs >= MOST_BUGS) return this.#end(job, 'failed', messageOf(error));
    const { code, text } = isRefusal ? { code: error.code, text: error.message } : INTERNAL;
    const failed = block.targets.slice(0, 1).map(
      (target): Listed => ({
        ...target,
        outcome: 'failed',
        code,
        reason: text,
      }),
    );
    await this.#needs.db.write((tx) =>
      this.#count(tx, job, block, 1, failed, { changed: 0, unchanged: 0, skipped: 0, failed: 1 }),
    );
  }

  async #pause(): Promise<void> {
    const ms = PAUSES_MS[this.#failures] ?? PAUSES_MS.at(-1);
    this.#failures++;
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  #end(job: JobFacts, state: 'done' | 'stopped' | 'failed', problem = ''): Promise<void> {
    const endedAt = this.#needs.clock.now();
    return this.#change(job, GOING, { state, endedAt, problem: shortened(problem) });
  }

  async #change(
    job: JobFacts,
    states: readonly JobFacts['state'][],
    fields: Partial<JobFacts> & Pick<JobFacts, 'state'>,
  ): Promise<void> {
    const { db, store, audit } = this.#needs;
    await db.write(async (tx) => {
      const isChanged = await store.change(tx, job.id, states, fields);
      if (isChanged && fields.state !== 'running') await recordChange(audit, tx, job.who, job, fields.state);
    });
  }
}

const INTERNAL = {
  code: 'KERNEL_INTERNAL',
  text: 'internal error; search the log for the number of the job',
};
