// A process that serves, through its control: which users it has, and what they moved.
import { TimeSlice } from '../../kernel/index.js';
import type { CoreAccount, UserRef } from '../engine/contract.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { ProcessState } from '../processes/contract.js';
import type { CounterReading } from '../traffic/contract.js';
import type { InstancePlan, Sidecar, SidecarControl, SidecarUser } from './contract.js';
import { userName } from '../engine/contract.js';
import { inTime } from './in-time.js';
import type { InstanceRecord } from './instance-record.js';
import { callProgram } from './program-call.js';
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
/** Takes last readings of users, and resolves when they are counted. */
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
    });
  }

  static async open(place: Place): Promise<LiveInstance> {
    const { sidecar, plan, folder, process, record } = place;
    const abort = new AbortController();
    const { ports, secret } = record;
    const control = await inTime(STEP_MS, 'opening it', () =>
      sidecar.open({
        name: plan.name,
        inboundIds: plan.inboundIds,
        folder,
        ports,
        secret,
        pid: process.pid,
        adopted: process.adopted,
        signal: abort.signal,
        call: (port, path, options = {}) => {
          const number = ports[port];
          if (number === undefined) throw new TypeError(`the plan names no port ${port}`);
          return callProgram(number, path, options, abort.signal);
        },
      }),
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
      return this.readings.take(counters, now);
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
    await inTime(STEP_MS, 'putting all users', () => live.replace(users));
    const has = new Map<string, string>();
    const slice = new TimeSlice();
    for (const { name, account } of users) {
      if (slice.isOver) await slice.next();
      has.set(name, textOf(account));
    }
    this.#has = has;
  }

  /** Brings these users to what they should be now. */
  async change(refs: readonly UserRef[], settle: Settle): Promise<void> {
    const { users: live, countersEndWithUsers } = this.#control;
    const has = this.#has;
    if (!live) return;
    if (!has) throw new Error('its users are being compared');
    const put: SidecarUser[] = [];
    const gone: UserRef[] = [];
    const slice = new TimeSlice();
    for (const ref of refs) {
      if (slice.isOver) await slice.next();
      const user = this.#users.user(ref);
      if (!user && has.has(userName(ref))) gone.push(ref);
      if (user && has.get(user.name) !== textOf(user.account)) put.push({ ...ref, ...user });
    }
    if (put.length + gone.length === 0) return;
    const ending = [...gone, ...put.filter(({ name }) => has.has(name))];
    if (countersEndWithUsers && ending.length > 0) void settle([await this.read(Date.now())]);
    // Until it has succeeded it is not known what the program has.
    this.#has = undefined;
    const count = put.length + gone.length;
    const all =
      count > MANY && count > has.size / 4 ? await usersOf(this.#users, this.#inboundIds) : undefined;
    await inTime(STEP_MS, 'changing users', () => (all ? live.replace(all) : live.change(put, gone)));
    for (const ref of gone) has.delete(userName(ref));
    for (const { name, account } of put) has.set(name, textOf(account));
    this.#has = has;
    if (countersEndWithUsers && ending.length > 0) void settle([this.readings.zero(ending)]);
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
