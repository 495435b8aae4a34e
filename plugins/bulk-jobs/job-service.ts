// What admins ask for: start a job, stop it, do it again for the clients that it left.
import type { Clock, Database, Principal, RequestInfo, Tx } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import {
  type BulkAction,
  clientErrors,
  type ClientFilter,
  type ClientPortionsApi,
  type Target,
} from '../clients/contract.js';
import { errors } from './errors.js';
import type { JobRequest } from './job-request.js';
import type { JobRunner } from './job-runner.js';
import type { JobFacts, JobStore } from './job-store.js';
import type { JobTargets } from './job-targets.js';
import type { LiveJobs } from './live-jobs.js';
import { counted } from './reasons.js';
import { recordChange, recordStart } from './recorded.js';
import type { Listed, SkippedClients } from './skipped-clients.js';
import { type JobRow, OPEN } from './tables.js';

/** Jobs that wait or run. */
export const MOST_OPEN = 10;
const SAMPLE = 20;
/** Rows that are read at once. */
const PAGE = 5_000;

type Note = RequestInfo['note'];
export interface Started {
  readonly id: number | null;
  readonly total: number;
  readonly unknown: number;
  readonly sample: string[];
}
interface NewJob {
  readonly action: Pick<BulkAction, 'name' | 'params'>;
  readonly filter: ClientFilter | undefined;
  readonly targets: readonly Target[];
  readonly unknown: readonly string[];
  readonly retryOf: number | null;
  readonly whom: {
    readonly filter?: object | undefined;
    readonly emails?: number | undefined;
    readonly except: number;
  };
}

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly portions: ClientPortionsApi;
  readonly store: JobStore;
  readonly targets: JobTargets;
  readonly skipped: SkippedClients;
  readonly live: LiveJobs;
  readonly runner: JobRunner;
  readonly audit?: AuditTrailApi | undefined;
}

export class JobService {
  readonly #needs: Needs;

  constructor({ db, clock, portions, store, targets, skipped, live, runner, audit }: Needs) {
    this.#needs = { db, clock, portions, store, targets, skipped, live, runner, audit };
  }

  async start(request: JobRequest, who: Principal, note: Note): Promise<Started> {
    const { portions } = this.#needs;
    const action = portions.action(request.action, request.params);
    const filter = request.filter && portions.filter(request.filter);
    const excluded = this.#excluded(request.except);
    const chosen = filter
      ? { targets: await portions.matching(filter), unknown: [] }
      : portions.named(request.emails ?? []);
    const targets =
      excluded.size === 0 ? chosen.targets : chosen.targets.filter(({ id }) => !excluded.has(id));
    const { unknown } = chosen;
    if (request.dryRun) return startedOf(null, targets, unknown);
    const whom = {
      except: excluded.size,
      ...(filter ? { filter } : { emails: request.emails?.length ?? 0 }),
    };
    return this.#add({ action, filter, targets, unknown, retryOf: null, whom }, who, note);
  }

  #excluded({ emails, ids }: JobRequest['except']): ReadonlySet<number> {
    const { portions } = this.#needs;
    const { targets, unknown } = portions.named(emails);
    // A misspelt exception would be changed with the others.
    if (unknown[0] !== undefined)
      throw errors.UNKNOWN_EXCEPTION(`except.emails: there is no client ${unknown[0]}`, {
        path: 'except.emails',
      });
    return new Set([...targets.map(({ id }) => id), ...ids]);
  }

  async #add(job: NewJob, who: Principal, note: Note): Promise<Started> {
    const { db, live, runner } = this.#needs;
    const started = await db.write(async (tx) => {
      const added = startedOf(await this.#insert(tx, job, who), job.targets, job.unknown);
      note?.(added);
      return added;
    });
    live.changed();
    runner.wake();
    return started;
  }

  async #insert(tx: Tx, job: NewJob, who: Principal): Promise<number> {
    const { clock, store, targets, skipped, audit } = this.#needs;
    if ((await store.countOpen(tx)) >= MOST_OPEN)
      throw errors.TOO_MANY(`${MOST_OPEN} jobs wait or run; wait until one has ended, or stop one`);
    const { code, text: reason } = clientErrors.NOT_FOUND;
    const listed = job.unknown.map((email): Listed => ({ id: 0, email, outcome: 'skipped', code, reason }));
    const values: Omit<JobRow, 'id'> = {
      action: job.action.name,
      params: job.action.params,
      filter: job.filter ?? null,
      who: { name: who.name, kind: who.kind, ...(who.ip !== undefined && { ip: who.ip }) },
      state: 'waiting',
      retryOf: job.retryOf,
      total: job.targets.length + listed.length,
      changed: 0,
      unchanged: 0,
      skipped: listed.length,
      failed: 0,
      listed: listed.length,
      reasons: counted([], listed),
      problem: '',
      createdAt: clock.now(),
      startedAt: null,
      endedAt: null,
    };
    const added = await store.add(tx, values);
    await targets.insert(tx, added.id, job.targets);
    await skipped.insert(tx, added.id, 0, listed);
    await recordStart(audit, tx, who, added, job.whom);
    return added.id;
  }

  /** The portion under way is finished; what is not begun stays for a retry. */
  async stop(id: number, who: Principal): Promise<JobFacts> {
    const { db, store, live, runner, clock, audit } = this.#needs;
    store.find(id);
    await db.write(async (tx) => {
      const job = store.find(id);
      const isWaiting = await store.change(tx, id, ['waiting'], { state: 'stopped', endedAt: clock.now() });
      if (isWaiting) return recordChange(audit, tx, who, { ...job, state: 'waiting' }, 'stopped');
      if (await store.change(tx, id, ['running'], { state: 'stopping' }))
        return recordChange(audit, tx, who, { ...job, state: 'running' }, 'stopping');
      return undefined;
    });
    const job = store.find(id);
    if (!OPEN.includes(job.state) && job.state !== 'stopped')
      throw errors.ENDED(`job ${id} has ended already`, { path: 'id' });
    live.changed();
    runner.wake();
    return job;
  }

  /** A job for the clients that another one skipped, failed with, or has not begun. */
  async retry(id: number, who: Principal, note: Note): Promise<Started> {
    const { store, portions } = this.#needs;
    const job = store.find(id);
    if (OPEN.includes(job.state)) throw errors.NOT_ENDED(`job ${id} has not ended yet`, { path: 'id' });
    const { targets, unknown } = await this.#left(job);
    if (targets.length + unknown.length === 0)
      throw errors.NOTHING_LEFT(`job ${id} skipped no client`, { path: 'id' });
    const filter = await store.filterOf(id);
    const action = portions.action(job.action, job.params);
    return this.#add({ action, filter, targets, unknown, retryOf: id, whom: { except: 0 } }, who, note);
  }

  async #left({ id, listed }: JobFacts): Promise<{ targets: Target[]; unknown: string[] }> {
    const { portions, skipped, targets: blocks } = this.#needs;
    const targets: Target[] = [];
    const emails: string[] = [];
    for (let block = await blocks.next(id); block; block = await blocks.next(id, block.number))
      for (const target of block.targets) targets.push(target);
    for (let after = 0; after < listed; after += PAGE)
      for (const client of await skipped.page(id, after, after + PAGE)) {
        if (client.outcome === 'partly') continue;
        if (client.id === 0) emails.push(client.email);
        else targets.push({ id: client.id, email: client.email });
      }
    const named = portions.named(emails);
    const known = new Set(targets.map((target) => target.id));
    return {
      targets: [...targets, ...named.targets.filter((target) => !known.has(target.id))],
      unknown: [...named.unknown],
    };
  }
}

const startedOf = (
  id: number | null,
  targets: readonly Target[],
  { length: unknown }: readonly string[],
): Started => ({
  id,
  total: targets.length + unknown,
  unknown,
  sample: targets.slice(0, SAMPLE).map(({ email }) => email),
});
