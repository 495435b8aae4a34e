// One process of a sidecar: started as planned, with the users that it should have, its counters read before it stops.
import { type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import { type Applied, DONE, type UserRef } from '../engine/contract.js';
import type { ManagedProcess, ProcessesApi, ProcessOptions } from '../processes/contract.js';
import type { CounterReading, CountingApi } from '../traffic/contract.js';
import type { InstancePlan, Sidecar, SidecarFile, SidecarStatus, SidecarUser } from './contract.js';
import type { FoundProgram } from './find-program.js';
import type { InstanceRecord, RecordFile } from './instance-record.js';
import { runningOf, stateOf } from './instance-state.js';
import { readLeft } from './left-process.js';
import { LiveInstance } from './live-instance.js';
import { isTaken } from './own-port.js';
import { Problems } from './problems.js';
import { plannedProcess, removeFiles, writeFiles } from './planned-process.js';
import { Settling } from './settling.js';
import { SpacedRestarts } from './spaced-restarts.js';
import { usersOf } from './users-of.js';

const NOT_STARTED = 'it cannot be started';

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
  /** has had its users at least once */
  #served: LiveInstance | undefined;
  #files: readonly SidecarFile[] = [];
  /** what the plan says does not run yet, because a step of it failed */
  #isUnapplied = false;
  readonly #problems: Problems;
  /** of a program that reads users at its start */
  readonly #restarts = new SpacedRestarts(() => this.#queue.run(() => this.#restartBehind()));
  #closed = false;

  constructor(plan: InstancePlan, program: FoundProgram, needs: InstanceNeeds) {
    this.name = plan.name;
    this.#plan = plan;
    this.#program = program;
    this.#needs = needs;
    this.#settling = new Settling(needs);
    this.#problems = new Problems(needs.log, { protocol: needs.sidecar.protocol, sidecar: plan.name });
  }

  get inboundIds(): readonly number[] {
    return this.#plan.inboundIds;
  }

  /** Starts the process, or restarts it where the plan differs from what runs. Resolves when it is started or its first attempt failed; never rejects. */
  apply(plan: InstancePlan, program: FoundProgram): Promise<void> {
    return this.#queue.run(async () => {
      this.#plan = plan;
      this.#program = program;
      await this.#applied().catch((error: unknown) => this.#fail(NOT_STARTED, error));
    });
  }

  /** Resolves when the program has these users as they should be now, or with the reason why not. */
  change(refs: readonly UserRef[]): Promise<Applied> {
    return this.#queue.run(async () => {
      if (this.#record?.readsUsersAtStart) return this.#restarts.ask(() => this.#restartBehind());
      const live = this.#live;
      if (!live) return { pending: true, reason: this.state };
      try {
        await live.change(refs, (readings) => this.#settling.settleSoon(readings));
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
      if (this.#closed) return;
      if (this.#isUnapplied)
        return void (await this.#applied().catch((error: unknown) => this.#fail(NOT_STARTED, error)));
      const { name } = this.#process?.state ?? {};
      if (name === 'waiting') return void (await this.#leaveTakenPorts());
      if (this.#problems.text === '' || name !== 'running') return;
      if (this.#problems.wantsRestart) await this.#restartAfterFailures();
      else await this.#reopen();
    });
  }

  /** Returns the present reading; undefined while there is none. */
  async read(now: number): Promise<CounterReading | undefined> {
    const [live, turn] = [this.#live, this.#settling.turn];
    if (!live || this.#settling.isUnderWay) return undefined;
    try {
      const reading = await live.read(now);
      this.#problems.report(live.readings.problem);
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
    this.#restarts.close();
    return this.#queue.run(async () => {
      const { settled } = await this.#stopCounted(async () => this.#process?.stop());
      // A poll may be what disables an inbound, and must not wait for itself.
      if (!forget) await settled;
      else await this.#forget().catch((error: unknown) => this.#fail('it leaves files behind', error));
    });
  }

  /** Files of the process may hold secrets. */
  async #forget(): Promise<void> {
    await removeFiles(this.#files, this.folder);
    await this.#needs.record.remove();
  }

  /** Returns how the users of the program differ from those that it should have; undefined where it does not tell. */
  differences(): Promise<readonly string[] | undefined> {
    return this.#queue.run(async () => {
      const users = await this.#allUsers();
      if (!this.#record?.readsUsersAtStart) return this.#live?.differences(users);
      const { digest } = plannedProcess(this.#plan, this.#program, this.#record, this.folder, users);
      return digest === this.#digest ? [] : ['it was not started with the users that it should have'];
    });
  }

  /** Leaves the process to the next panel. */
  release(): void {
    this.#closed = true;
    this.#restarts.close();
    this.#live?.abandon();
    this.#live = undefined;
  }

  get folder(): string {
    return this.#process?.folder ?? '';
  }
  get title(): string {
    return `${this.#needs.sidecar.protocol}/${this.name}`;
  }

  get state(): string {
    const isServing = this.#served !== undefined && this.#served === this.#live;
    return stateOf(this.#process?.state, isServing, this.#problems.text);
  }

  describe(): SidecarStatus {
    return {
      ...runningOf(this.#process?.state),
      protocol: this.#needs.sidecar.protocol,
      name: this.name,
      inboundIds: this.inboundIds,
      state: this.state,
      folder: this.folder,
      ports: this.#record?.ports ?? {},
      live: this.#record?.readsUsersAtStart === false,
      problem: this.#problems.text || (this.#live?.readings.problem ?? ''),
    };
  }

  async #applied(): Promise<void> {
    if (this.#closed) return;
    const { record, freePort, processes, log, sidecar } = this.#needs;
    this.#isUnapplied = true;
    this.#record = await record.for(this.#plan, this.#program.mark, freePort);
    const manage = (options: Omit<ProcessOptions, 'name'>): ManagedProcess =>
      processes.manage({ name: 'sidecars', log }, { ...options, name: `${sidecar.protocol}-${this.name}` });
    // A handle that is never started, for its folder.
    this.#process ??= manage({ command: this.#program.path });
    const { folder } = this.#process;
    const users = this.#record.readsUsersAtStart ? await this.#allUsers() : undefined;
    const { plan, digest, options } = plannedProcess(this.#plan, this.#program, this.#record, folder, users);
    if (digest !== this.#digest) {
      // Before anything is stopped: where the disk is full, what runs goes on.
      await writeFiles(plan, folder);
      this.#files = plan.files ?? [];
      this.#restarts.began();
      if (this.#digest === '') {
        // It is stopped if it was started in another way.
        const { name, inboundIds } = this;
        const left = await readLeft(this.#needs, { name, inboundIds, folder, record: this.#record });
        if (left) void this.#settling.settle([left]);
        this.#process = this.#watched(manage(options));
        // Not `restart`: it may adopt the process of the previous panel. Nobody waits for it, as others are to be started.
        void this.#process.start();
      } else await this.#stopCounted(async () => this.#process?.restart(options));
      this.#digest = digest;
    }
    this.#restarts.done();
    this.#isUnapplied = false;
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
        folder: this.folder,
        record: this.#record,
        process: state,
      });
      const live = this.#live;
      if (live.takesUsers === this.#record.readsUsersAtStart) {
        await this.#needs.record.change({ readsUsersAtStart: !live.takesUsers });
        await this.#applied();
        // Another process has begun, which is opened in its turn.
        if (this.#live !== live) return;
      }
      // Whether it answers may be known by its counters alone, and without them nobody is limited.
      if (!live.takesUsers || this.#problems.hasFailed)
        void this.#settling.settle([await live.read(Date.now())]);
      if (live.takesUsers) await live.replace(await this.#allUsers(), (some) => this.#settling.settle(some));
      this.#served = live;
      this.#problems.solved();
    } catch (error) {
      this.#fail('it does not take its users', error);
    }
  }

  async #restartAfterFailures(): Promise<void> {
    this.#problems.restarted();
    await this.#restartElsewhere();
  }

  /** Another program may have taken a port of its own while it did not run: it would never start again. */
  async #leaveTakenPorts(): Promise<void> {
    const ports = Object.values(this.#record?.ports ?? {});
    const taken = await Promise.all(ports.map(isTaken));
    if (taken.includes(true) && this.#process?.state.name === 'waiting') await this.#restartElsewhere();
  }

  async #restartElsewhere(): Promise<void> {
    this.#digest = `${this.#digest} failed`;
    this.#isUnapplied = true;
    try {
      await this.#needs.record.forgetPorts();
      await this.#applied();
    } catch (error) {
      this.#fail(NOT_STARTED, error);
    }
  }

  async #restartBehind(): Promise<Applied> {
    if (!this.#restarts.isDue || this.#closed) return DONE;
    try {
      await this.#applied();
      return this.#live || this.#process?.state.name === 'running'
        ? DONE
        : { pending: true, reason: this.state };
    } catch (error) {
      this.#fail(NOT_STARTED, error);
      return { pending: true, reason: messageOf(error) };
    }
  }

  #allUsers(): Promise<SidecarUser[]> {
    return usersOf(this.#needs.users, this.#plan.inboundIds);
  }

  /**
   * Runs what stops the process, after a reading. If the panel is killed before that is written, it is lost: hence one before it, which is waited for.
   * `settled` resolves when the last reading is counted; nothing that a poll waits for may wait for it.
   */
  async #stopCounted(stop: () => Promise<unknown>): Promise<{ settled: Promise<unknown> }> {
    const live = this.#live;
    const before = await live?.lastReading();
    if (before) await this.#settling.settleSoon([before]);
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
    this.#problems.fail(what, error);
  }
}
