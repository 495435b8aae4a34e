// Repeated work of plugins: runs of a job never overlap, and a signal ends them when the kernel stops.
import { Alarm } from '../../timing/alarm.js';
import type { Clock } from '../../timing/clock.js';
import { timetable, type Timetable, type When } from '../../timing/timetable.js';
import { withTimeout } from '../../timing/with-timeout.js';
import { token } from '../container/token.js';
import { messageOf } from '../errors/errors.js';
import type { Log } from '../log/log.js';
import type { Owner } from '../plugin/owner.js';
import { LIMITS } from '../plugin/limits.js';

export interface Job {
  /** name of one job of the plugin */
  readonly name: string;
  readonly when: When;
  readonly run: (signal: AbortSignal) => void | Promise<void>;
  /** Where several panels share a database: in each of them, for what it has in memory or on its machine. By default in one. */
  readonly everywhere?: boolean;
}
/** `when` is a duration such as `5s`, or `{ every, jitter }`, or `{ at, zone, jitter }` for times of the calendar. */
export const job = (name: string, when: When, run: Job['run']): Job => ({ name, when, run });
/** A job that runs in each of several panels on one database. */
export const everywhere = (one: Job): Job => ({ ...one, everywhere: true });

/** The result of one run of a job. */
export interface JobResult {
  /** Unix ms */
  readonly startedAt: number;
  readonly tookMs: number;
  /** empty when it succeeded */
  readonly error: string;
}
export interface JobState {
  readonly plugin: string;
  readonly job: string;
  /** for display, such as `every 5s` */
  readonly when: string;
  /** Unix ms of the next run, before any jitter; 0 when none is planned */
  readonly nextAt: number;
  /** Unix ms since when the job has been running; 0 when it is not */
  readonly runningSince: number;
  /** of the last run since the panel started */
  readonly last: JobResult | undefined;
}
/** The jobs of all plugins; provided by the kernel. */
export interface JobsApi {
  list(): readonly JobState[];
  /** Runs a job now; undefined where it does not exist, where it is already running, and where its plugin is not called. */
  run(plugin: string, job: string): Promise<JobResult> | undefined;
  /** IANA time zone of calendar times that name none; undefined is the machine's. */
  useZone(zone: string | undefined): void;
}
export const Jobs = token<JobsApi>('kernel', 'Jobs');

interface Entry {
  readonly owner: Owner;
  readonly job: Job;
  readonly times: Timetable;
  readonly alarm: Alarm;
  runningSince: number | undefined;
  last: JobResult | undefined;
}

export class Schedule implements JobsApi {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limit: number;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  readonly #running = new Map<Promise<JobResult>, (error: unknown) => void>();
  #entries: readonly Entry[] = [];
  #zone: string | undefined;
  #begun = false;
  /** whether this process runs jobs that run in one process only */
  leads = (): boolean => true;

  constructor(clock: Clock, log: Log, limit: number = LIMITS.stop, random = Math.random) {
    this.#limit = limit;
    this.#clock = clock;
    this.#log = log;
    this.#random = random;
  }

  /** Throws where one of them is invalid, and then adds none of them. */
  add(owner: Owner, jobs: readonly Job[]): void {
    const added = jobs.map((one, i) => {
      const { name, run } = one;
      if (typeof name !== 'string' || typeof run !== 'function' || jobs.findIndex((j) => j.name === name) < i)
        throw new Error(
          `job ${name}: it needs a name that no other job of the plugin has, and a function run`,
        );
      return this.#entryOf(owner, one);
    });
    this.#entries = [...this.#entries, ...added];
    if (this.#begun) for (const entry of added) this.#plan(entry);
  }

  #entryOf(owner: Owner, one: Job): Entry {
    try {
      const times = timetable(one.when);
      const alarm = new Alarm(this.#clock, times, () => void this.#turn(entry), this.#random);
      const entry: Entry = { owner, job: one, times, alarm, runningSince: undefined, last: undefined };
      return entry;
    } catch (error) {
      throw new Error(`job ${one.name}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** No job is due before. */
  begin(): void {
    this.#begun = true;
    for (const entry of this.#entries) this.#plan(entry);
  }

  drop(owner: Owner): void {
    for (const { alarm } of this.#entries.filter((entry) => entry.owner === owner)) alarm.cancel();
    this.#entries = this.#entries.filter((entry) => entry.owner !== owner);
  }

  #plan({ owner, job, times, alarm }: Entry): void {
    alarm.set(this.#zone);
    this.#log.debug('job scheduled', { plugin: owner.name, job: job.name, when: times.text });
  }

  /** Every run of a job starts here. */
  #turn(entry: Entry): Promise<JobResult> | undefined {
    const { owner, job } = entry;
    if (entry.runningSince !== undefined || owner.isOff || !(job.everywhere || this.leads()))
      return undefined;
    const startedAt = this.#clock.now();
    entry.runningSince = startedAt;
    const fault = (error: unknown) => owner.fault(`job ${job.name} of ${owner.name}`, error);
    const work = async (): Promise<JobResult> => {
      let problem = '';
      try {
        await Promise.resolve();
        await job.run(this.#stop.signal);
      } catch (error) {
        problem = messageOf(error);
        if (!this.#stop.signal.aborted) fault(error);
      }
      this.#running.delete(turn);
      entry.runningSince = undefined;
      entry.last = { startedAt, tookMs: this.#clock.now() - startedAt, error: problem };
      return entry.last;
    };
    const turn = work();
    this.#running.set(turn, fault);
    return turn;
  }

  list(): readonly JobState[] {
    return this.#entries.map(({ owner, job, times, alarm, runningSince, last }) => ({
      plugin: owner.name,
      job: job.name,
      when: times.text,
      nextAt: alarm.nextAt,
      runningSince: runningSince ?? 0,
      last,
    }));
  }

  run(plugin: string, name: string): Promise<JobResult> | undefined {
    const entry = this.#entries.find(({ owner, job }) => owner.name === plugin && job.name === name);
    return entry && this.#turn(entry);
  }

  useZone(zone: string | undefined): void {
    if (zone === this.#zone) return;
    this.#zone = zone;
    if (!this.#begun) return;
    for (const entry of this.#entries) if (entry.times.everyMs === undefined) this.#plan(entry);
  }

  /** Resolves when the current runs are over. For tests. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.keys());
  }

  /** Starts no further runs; waits for the current ones, whose signals abort, but not for one that ignores its signal. */
  async stop(): Promise<void> {
    for (const { alarm } of this.#entries) alarm.cancel();
    this.#stop.abort();
    await Promise.all(
      [...this.#running].map(([turn, fault]) => withTimeout(this.#limit, 'its end', () => turn).catch(fault)),
    );
  }
}
