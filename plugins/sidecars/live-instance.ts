// A process that serves, through its control: which users it has, and what they moved.
import { TimeSlice } from '../../kernel/index.js';
import type { CoreAccount, UserRef } from '../engine/contract.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { ProcessState } from '../processes/contract.js';
import type { CounterReading } from '../traffic/contract.js';
import type { InstancePlan, Sidecar, SidecarControl, SidecarUser } from './contract.js';
import { userName } from '../engine/contract.js';
import { differences } from './invariants.js';
import { inTime } from './in-time.js';
import type { InstanceRecord } from './instance-record.js';
import { viewOf } from './left-process.js';
import { Readings } from './reading.js';
import { usersOf } from './users-of.js';

const STEP_MS = 10_000;
const READ_MS = 4_000;
const SILENT_MS = 500;
/** Users of one change, from which on all of them in one call may be cheaper. */
const MANY = 500;

interface Place {
  readonly sidecar: Sidecar;
  readonly users: ProgramUsersApi;
  readonly plan: InstancePlan;
  readonly folder: string;
  readonly record: InstanceRecord;
  readonly process: Extract<ProcessState, { name: 'running' }>;
}
/** Takes last readings of users, and resolves when they are counted, or soon. */
export type Settle = (readings: readonly CounterReading[]) => Promise<void>;

export class LiveInstance {
  readonly readings: Readings;
  readonly #control: SidecarControl;
  readonly #users: ProgramUsersApi;
  readonly #abort: AbortController;
  readonly #adopted: boolean;
  readonly #inboundIds: readonly number[];
  #isSilent = false;
  /** what the program has, by name; undefined while that is not known */
  #has: Map<string, string> | undefined;
  /** A change took too long and still goes on: another one beside it could put back who has just been removed. */
  #isChanging = false;
  /** names of all that it was given, or had when it was adopted: their counters may outlive them */
  readonly #given = new Set<string>();
  #hasBeenRead = false;

  private constructor(
    control: SidecarControl,
    abort: AbortController,
    { sidecar, users, plan, process }: Place,
  ) {
    this.#control = control;
    this.#users = users;
    this.#abort = abort;
    this.#adopted = process.adopted;
    this.#inboundIds = plan.inboundIds;
    this.readings = new Readings({
      stream: `${sidecar.protocol}/${plan.name}`,
      epoch: `${process.pid}-${process.since}`,
      since: process.since,
      inboundIds: plan.inboundIds,
      isComplete: control.countersEndWithUsers === true,
      // Which users a program without `users` has read at its start is not known here.
      isUser: (ref) => !this.takesUsers || users.isAttached(ref) || this.#given.has(userName(ref)),
    });
  }

  static async open(place: Place): Promise<LiveInstance> {
    const { sidecar, plan, folder, process, record } = place;
    const abort = new AbortController();
    const { name, inboundIds } = plan;
    const control = await inTime(STEP_MS, 'opening it', () =>
      sidecar.open(viewOf({ name, inboundIds, folder, record }, process, abort.signal)),
    ).catch((error: unknown) => {
      abort.abort();
      throw error;
    });
    return new LiveInstance(control, abort, place);
  }

  get takesUsers(): boolean {
    return this.#control.users !== undefined;
  }

  /** A program that did not answer the last time has less time: the poll of the core waits for it. */
  async read(now: number): Promise<CounterReading> {
    const limit = this.#isSilent ? SILENT_MS : READ_MS;
    try {
      const counters = await inTime(limit, 'reading its counters', () => this.#control.read());
      this.#isSilent = false;
      if (this.#adopted && !this.#hasBeenRead && Array.isArray(counters))
        for (const ref of counters as readonly UserRef[]) if (ref) this.#given.add(userName(ref));
      this.#hasBeenRead = true;
      return await this.readings.take(counters, now);
    } catch (error) {
      this.#isSilent = true;
      throw error;
    }
  }

  /** Undefined when the program does not answer any more. */
  async lastReading(): Promise<CounterReading | undefined> {
    return this.read(Date.now()).catch(() => undefined);
  }

  /** Makes its users exactly these. */
  async replace(users: readonly SidecarUser[], settle: Settle): Promise<void> {
    const { users: live, countersEndWithUsers } = this.#control;
    if (!live) return;
    // Counters that went while no panel ran begin at zero before anybody is put again.
    if (countersEndWithUsers && (this.#adopted || this.#has === undefined))
      void settle([await this.read(Date.now())]);
    this.#has = undefined;
    await this.#step('putting all users', () => live.replace(users));
    this.#has = await this.#namesOf(users);
  }

  /** Compares what the program says that it has; undefined where it does not say so. */
  async differences(users: readonly SidecarUser[]): Promise<string[] | undefined> {
    const { users: live } = this.#control;
    if (!live?.list) return undefined;
    return differences(users, await inTime(STEP_MS, 'listing its users', async () => live.list?.() ?? []));
  }

  /** Brings these users to what they should be now. */
  async change(refs: readonly UserRef[], settle: Settle): Promise<void> {
    const { users: live, countersEndWithUsers } = this.#control;
    const has = this.#has;
    if (!live) return;
    if (!has) throw new Error('its users are being compared');
    const { put, gone } = await this.#differing(refs, has);
    if (put.length + gone.length === 0) return;
    const changed = put.filter(({ name }) => has.has(name));
    // Until all has succeeded it is not known what the program has.
    this.#has = undefined;
    let leaving = gone;
    if (countersEndWithUsers && gone.length + changed.length > 0) {
      await this.#remove([...gone, ...changed], settle);
      leaving = [];
    }
    const count = put.length + leaving.length;
    if (count > (live.wholeFrom ?? Math.max(MANY, has.size / 4))) {
      const all = await usersOf(this.#users, this.#inboundIds);
      await this.#step('putting all users', () => live.replace(all));
      this.#has = await this.#namesOf(all);
      return;
    }
    if (count > 0) await this.#step('changing users', () => live.change(put, leaving));
    for (const ref of gone) has.delete(userName(ref));
    for (const [name, account] of await this.#namesOf(put)) has.set(name, account);
    this.#has = has;
  }

  /** Which of these users differ from what the program has. */
  async #differing(
    refs: readonly UserRef[],
    has: ReadonlyMap<string, string>,
  ): Promise<{ readonly put: SidecarUser[]; readonly gone: UserRef[] }> {
    const put: SidecarUser[] = [];
    const gone: UserRef[] = [];
    const slice = new TimeSlice();
    for (const ref of refs) {
      if (slice.isOver) await slice.next();
      const user = this.#users.user(ref);
      if (!user && has.has(userName(ref))) gone.push(ref);
      if (user && has.get(user.name) !== textOf(user.account)) put.push({ ...ref, ...user });
    }
    return { put, gone };
  }

  /**
   * Removes users whose counters go with them, and reads these before. A user who changes is removed too, and put as a new
   * one: whether a program keeps the counter of a user who changes is not asked.
   */
  async #remove(refs: readonly UserRef[], settle: Settle): Promise<void> {
    const { users: live } = this.#control;
    if (!live) return;
    if (live.quiet) await this.#step('stopping the traffic of users', () => live.quiet?.(refs));
    await settle([await this.read(Date.now())]);
    await this.#step('removing users', () => live.change([], refs));
    void settle([this.readings.zero(refs)]);
  }

  /** Lets the control change users: one step at a time, each with its time. */
  async #step(what: string, work: () => void | Promise<void>): Promise<void> {
    if (this.#isChanging) throw new Error('an earlier change of its users still goes on');
    this.#isChanging = true;
    await inTime(STEP_MS, what, async () => {
      try {
        await work();
      } finally {
        this.#isChanging = false;
      }
    });
  }

  async #namesOf(users: readonly SidecarUser[]): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    const slice = new TimeSlice();
    for (const { name, account } of users) {
      if (slice.isOver) await slice.next();
      names.set(name, textOf(account));
      this.#given.add(name);
    }
    return names;
  }

  /** Call it when the process has stopped. */
  async closed(): Promise<void> {
    this.#abort.abort();
    const { closed } = this.#control;
    if (closed) await inTime(STEP_MS, 'cleaning up', () => this.#control.closed?.());
  }

  /** Another panel goes on with the process. */
  abandon(): void {
    this.#abort.abort();
  }
}

const textOf = (account: CoreAccount): string => JSON.stringify(account);
