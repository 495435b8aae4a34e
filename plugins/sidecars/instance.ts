// One process of a sidecar: started as planned, with the users that it should have, its counters read before it stops.
import { type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import { type Applied, DONE, type UserRef } from '../engine/contract.js';
import type { ManagedProcess, ProcessesApi, ProcessOptions } from '../processes/contract.js';
import type { CounterReading, CountingApi } from '../traffic/contract.js';
import type { InstancePlan, Sidecar, SidecarFile, SidecarStatus, SidecarUser } from './contract.js';
import type { FoundProgram } from './find-program.js';
import type { InstanceRecord, RecordFile } from './instance-record.js';
import { LiveInstance } from './live-instance.js';
import { plannedProcess, removeFiles, writeFiles } from './planned-process.js';
import { Settling } from './settling.js';
import { usersOf } from './users-of.js';

/** A program that reads users at its start is restarted at most this often. */
const BETWEEN_RESTARTS_MS = 5_000;
/** Failures in a row after which the process is started again. */
const FAILURES_UNTIL_RESTART = 3;
const LONGEST_REASON = 300;

export interface InstanceNeeds {
  readonly sidecar: Sidecar;
  readonly processes: ProcessesApi;
  readonly counting: CountingApi;
  readonly users: ProgramUsersApi;
  readonly log: Log;
  readonly record: RecordFile;
  readonly freePort: () => Promise<number>;
  /** name of the source of counters */
  readonly source: string;
}

export class Instance {
  readonly name: string;
  readonly #needs: InstanceNeeds;
  readonly #queue = new SerialQueue();
  readonly #settling: Settling;
  #plan: InstancePlan;
  #program: FoundProgram;
  #record: InstanceRecord | undefined;
  #process: ManagedProcess | undefined;
  /** of the process as it was started */
  #digest = '';
  #live: LiveInstance | undefined;
  #files: readonly SidecarFile[] = [];
  #failures = 0;
  #problem = '';
  #reported = '';
  /** users changed that a program lacks which reads them at its start */
  #isBehind = false;
  #restartedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(plan: InstancePlan, program: FoundProgram, needs: InstanceNeeds) {
    this.name = plan.name;
    this.#plan = plan;
    this.#program = program;
    this.#needs = needs;
    this.#settling = new Settling(needs);
  }

  get inboundIds(): readonly number[] {
    return this.#plan.inboundIds;
  }

  /** Starts the process, or restarts it where the plan differs from what runs. Resolves when it is started or its first attempt failed; never rejects. */
  apply(plan: InstancePlan, program: FoundProgram): Promise<void> {
    return this.#queue.run(async () => {
      this.#plan = plan;
      this.#program = program;
      await this.#applied().catch((error: unknown) => this.#fail('it cannot be started', error));
    });
  }

  /** Resolves when the program has these users as they should be now, or with the reason why not. */
  change(refs: readonly UserRef[]): Promise<Applied> {
    return this.#queue.run(async () => {
      if (this.#record?.readsUsersAtStart) return this.#changeAtStart();
      const live = this.#live;
      if (!live) return { pending: true, reason: this.state };
      try {
        await live.change(refs, (readings) => this.#settling.settle(readings));
        return DONE;
      } catch (error) {
        this.#fail('its users cannot be changed', error);
        return { pending: true, reason: messageOf(error) };
      }
    });
  }

  /** Tries again what failed. */
  retry(): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#problem === '' || this.#process?.state.name !== 'running') return;
      if (this.#failures >= FAILURES_UNTIL_RESTART) await this.#restartAfterFailures();
      else await this.#reopen();
    });
  }

  /** Returns the present reading; undefined while there is none. */
  async read(now: number): Promise<CounterReading | undefined> {
    const [live, turn] = [this.#live, this.#settling.turn];
    if (!live || this.#settling.isUnderWay) return undefined;
    try {
      const reading = await live.read(now);
      this.#report(live.readings.problem);
      // A last reading may have overtaken this one.
      return this.#settling.turn === turn && this.#live === live ? reading : undefined;
    } catch (error) {
      this.#fail('its counters cannot be read', error);
      return undefined;
    }
  }

  /** Stops the process after a last reading; `forget`: it does not come back. Never rejects. */
  close(forget: boolean): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    return this.#queue.run(async () => {
      const { settled } = await this.#stopCounted(async () => this.#process?.stop());
      // A poll may be what disables an inbound, and must not wait for itself.
      if (!forget) await settled;
      else await this.#forget().catch((error: unknown) => this.#fail('it leaves files behind', error));
    });
  }

  /** Files of the process may hold secrets. */
  async #forget(): Promise<void> {
    await removeFiles(this.#files, this.#process?.folder ?? '');
    await this.#needs.record.remove();
  }

  /** Leaves the process to the next panel. */
  release(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#live?.abandon();
    this.#live = undefined;
  }

  get state(): string {
    const { state } = this.#process ?? {};
    if (state?.name === 'running')
      return this.#live ? 'running' : `not running: ${this.#problem || 'it is being opened'}`;
    if (this.#problem) return `not running: ${this.#problem}`;
    if (state && 'reason' in state) return `not running: ${reasonOf(state.reason, state.lastLines)}`;
    return `not running: ${state?.name ?? 'starting'}`;
  }

  describe(): SidecarStatus {
    const { state } = this.#process ?? {};
    const isRunning = state?.name === 'running';
    return {
      protocol: this.#needs.sidecar.protocol,
      name: this.name,
      inboundIds: this.inboundIds,
      state: this.state,
      pid: isRunning ? state.pid : 0,
      since: isRunning ? state.since : 0,
      folder: this.#process?.folder ?? '',
      ports: this.#record?.ports ?? {},
      live: this.#record?.readsUsersAtStart === false,
      problem: this.#problem || (this.#live?.readings.problem ?? ''),
    };
  }

  async #applied(): Promise<void> {
    if (this.#closed) return;
    const { record, freePort, processes, log, sidecar } = this.#needs;
    this.#record = await record.for(this.#plan.ports ?? [], this.#program.mark, freePort);
    const manage = (options: Omit<ProcessOptions, 'name'>): ManagedProcess =>
      processes.manage({ name: 'sidecars', log }, { ...options, name: `${sidecar.protocol}-${this.name}` });
    // A handle that is never started, for its folder.
    this.#process ??= manage({ command: this.#program.path });
    const { folder } = this.#process;
    const users = this.#record.readsUsersAtStart ? await this.#allUsers() : undefined;
    const { plan, digest, options } = plannedProcess(this.#plan, this.#program, this.#record, folder, users);
    this.#isBehind = false;
    if (digest === this.#digest) return;
    const isFirst = this.#digest === '';
    this.#digest = digest;
    this.#files = plan.files ?? [];
    this.#restartedAt = performance.now();
    if (isFirst) {
      await writeFiles(plan, folder);
      this.#process = this.#watched(manage(options));
      // Not `restart`: it may adopt the process of the previous panel. Nobody waits for it, as others are to be started.
      void this.#process.start();
      return;
    }
    await this.#stopCounted(async () => {
      await writeFiles(plan, folder);
      await this.#process?.restart(options);
    });
  }

  #watched(process: ManagedProcess): ManagedProcess {
    process.onState(({ name }) => {
      if (name === 'running') {
        if (!this.#closed) void this.#queue.run(() => this.#reopen());
        return;
      }
      const live = this.#live;
      this.#live = undefined;
      if (live) void live.closed().catch((error: unknown) => this.#fail('it leaves something behind', error));
    });
    return process;
  }

  /** Opens the running process, and brings it to its users. */
  async #reopen(): Promise<void> {
    const state = this.#process?.state;
    if (this.#closed || state?.name !== 'running' || !this.#record) return;
    try {
      this.#live ??= await LiveInstance.open({
        ...this.#needs,
        plan: this.#plan,
        folder: this.#process?.folder ?? '',
        record: this.#record,
        process: state,
      });
      const readsUsersAtStart = !this.#live.takesUsers;
      if (readsUsersAtStart !== this.#record.readsUsersAtStart) {
        await this.#needs.record.change({ readsUsersAtStart });
        return await this.#applied();
      }
      if (!readsUsersAtStart)
        await this.#live.replace(await this.#allUsers(), (some) => this.#settling.settle(some));
      // Whether it answers is known by its counters alone.
      else await this.#live.read(Date.now());
      this.#failures = 0;
      this.#problem = '';
    } catch (error) {
      this.#fail('it does not take its users', error);
    }
  }

  async #restartAfterFailures(): Promise<void> {
    this.#failures = 0;
    // Another program may have taken a port.
    await this.#needs.record.change({ ports: {} });
    this.#digest = `${this.#digest} failed`;
    await this.#applied().catch((error: unknown) => this.#fail('it cannot be started', error));
  }

  #changeAtStart(): Promise<Applied> | Applied {
    this.#isBehind = true;
    const wait = this.#restartedAt + BETWEEN_RESTARTS_MS - performance.now();
    if (wait <= 0) return this.#restartBehind();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#queue.run(() => this.#restartBehind());
    }, wait);
    const seconds = BETWEEN_RESTARTS_MS / 1000;
    return {
      pending: true,
      reason: `this program reads its users when it starts, and is restarted at most every ${seconds} s`,
    };
  }

  async #restartBehind(): Promise<Applied> {
    if (!this.#isBehind || this.#closed) return DONE;
    try {
      await this.#applied();
      return this.#live || this.#process?.state.name === 'running'
        ? DONE
        : { pending: true, reason: this.state };
    } catch (error) {
      this.#fail('it cannot be started', error);
      return { pending: true, reason: messageOf(error) };
    }
  }

  #allUsers(): Promise<SidecarUser[]> {
    return usersOf(this.#needs.users, this.#plan.inboundIds);
  }

  /**
   * Runs what stops the process, after a reading. If the panel is killed before that is written, it is lost: hence one more before it.
   * `settled` resolves when the last reading is counted; nothing that a poll waits for may wait for it.
   */
  async #stopCounted(stop: () => Promise<unknown>): Promise<{ settled: Promise<unknown> }> {
    const live = this.#live;
    const before = await live?.lastReading();
    if (before) void this.#settling.settle([before]);
    const last = await live?.lastReading();
    this.#live = undefined;
    // Until it is counted, no reading of the next process may overtake it.
    const settled = last ? this.#settling.settle([last]) : Promise.resolve();
    try {
      await stop();
    } catch (error) {
      this.#fail('it cannot be stopped', error);
    }
    await live?.closed().catch((error: unknown) => this.#fail('it leaves something behind', error));
    return { settled };
  }

  #fail(what: string, error: unknown): void {
    this.#failures += 1;
    this.#problem = `${what}: ${messageOf(error)}`.slice(0, LONGEST_REASON);
    this.#report(this.#problem);
  }

  /** Once for each reason: a retry every few seconds would fill the log. */
  #report(problem: string): void {
    if (problem !== '' && problem !== this.#reported)
      this.#needs.log.warn('a sidecar has a problem', {
        protocol: this.#needs.sidecar.protocol,
        sidecar: this.name,
        problem,
      });
    this.#reported = problem;
  }
}

function reasonOf(reason: string, lastLines: readonly string[]): string {
  const words = lastLines.at(-1) ?? '';
  const whole = words === '' || reason.includes(words) ? reason : `${reason}: ${words}`;
  return whole.slice(0, LONGEST_REASON);
}
