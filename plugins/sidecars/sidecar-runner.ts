// The processes of one sidecar: as many as its plan says, each with the program that was found.
import { join } from 'node:path';
import { type Contributed, type Log, messageOf, SerialQueue } from '../../kernel/index.js';
import type { ProgramUsersApi } from '../clients/contract.js';
import type { Applied, UserRef } from '../engine/contract.js';
import { type Inbound, type LocalInboundsApi, loopbackPort } from '../inbounds/contract.js';
import type { ProcessesApi } from '../processes/contract.js';
import type { CounterReading, CountingApi } from '../traffic/contract.js';
import type { InstancePlan, Sidecar, SidecarStatus } from './contract.js';
import { type Found, findProgram, type FoundProgram } from './find-program.js';
import { inTime } from './in-time.js';
import { Instance } from './instance.js';
import { SOURCE } from './settling.js';
import { RecordFile } from './instance-record.js';
import type { Leftovers } from './leftovers.js';
import { isTableName, MOST_TABLES } from './nft-tables.js';

/** How long an edit waits for the program. */
const ANSWER_MS = 3_000;
const PROBLEM_MS = 5_000;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$/;
const MOST_INSTANCES = 1_000;
export interface RunnerNeeds {
  readonly processes: ProcessesApi;
  readonly counting: CountingApi;
  readonly inbounds: LocalInboundsApi;
  readonly users: ProgramUsersApi;
  readonly log: Log;
  readonly dataDirectory: string;
  /** Downloads the release of a program that is not on this machine; undefined where that is not possible. */
  readonly download: (sidecar: Sidecar) => Promise<Found | undefined>;
}

export class SidecarRunner {
  readonly sidecar: Sidecar;
  readonly #entry: Contributed<Sidecar>;
  readonly #needs: RunnerNeeds;
  readonly #queue = new SerialQueue();
  readonly #instances = new Map<string, Instance>();
  /** by inbound */
  #byInbound: ReadonlyMap<number, Instance> = new Map();
  /** why no instance runs; empty for nothing */
  #blocked = '';
  #closed = false;
  #retryAt = 0;

  constructor(entry: Contributed<Sidecar>, needs: RunnerNeeds) {
    this.#entry = entry;
    this.sidecar = entry.value;
    this.#needs = needs;
  }

  #enabled(): Inbound[] {
    const { protocol } = this.sidecar;
    return this.#needs.inbounds.list().filter((inbound) => inbound.protocol === protocol && inbound.enable);
  }

  serves(inboundId: number): boolean {
    return this.#needs.inbounds.get(inboundId)?.protocol === this.sidecar.protocol;
  }

  /** Brings the processes to what the inbounds need now. `mayDownload`: looks for the program further than on this machine. Never rejects. */
  apply(mayDownload = true): Promise<void> {
    return this.#queue.run(async () => {
      if (this.#closed) return;
      try {
        await this.#apply(mayDownload);
      } catch (error) {
        this.#entry.fault('planning its processes', error);
        this.#block(`the plugin ${this.#entry.plugin} failed; the log says why`);
      }
    });
  }

  async #apply(mayDownload: boolean): Promise<void> {
    const inbounds = this.#enabled();
    const plans = inbounds.length === 0 ? [] : this.#checked(this.sidecar.plan(inbounds), inbounds);
    const wanted = new Map(plans.map((plan) => [plan.name, plan]));
    const gone = [...this.#instances.values()].filter(({ name }) => !wanted.has(name));
    for (const { name } of gone) this.#instances.delete(name);
    this.#index();
    await Promise.all(gone.map((instance) => instance.close(true)));
    if (plans.length === 0) return void (this.#blocked = '');
    const program = await this.#program(mayDownload);
    if (program) await Promise.all(plans.map((plan) => this.#put(plan, program)));
    this.#index();
  }

  #put(plan: InstancePlan, program: FoundProgram): Promise<void> {
    const { dataDirectory, ...needs } = this.#needs;
    const record = join(dataDirectory, 'sidecars', this.sidecar.protocol, `${plan.name}.json`);
    let instance = this.#instances.get(plan.name);
    if (!instance) {
      instance = new Instance(plan, program, {
        ...needs,
        sidecar: this.sidecar,
        record: new RecordFile(record),
        freePort: () => loopbackPort((port) => this.#isTaken(port)),
        source: SOURCE,
      });
      this.#instances.set(plan.name, instance);
    }
    return instance.apply(plan, program);
  }

  #isTaken(port: number): boolean {
    const held = [...this.#instances.values()].flatMap((one) => Object.values(one.describe().ports));
    return held.includes(port) || this.#needs.inbounds.list().some((inbound) => inbound.port === port);
  }

  #index(): void {
    const byInbound = new Map<number, Instance>();
    for (const instance of this.#instances.values())
      for (const id of instance.inboundIds) byInbound.set(id, instance);
    this.#byInbound = byInbound;
  }

  /** Undefined when nothing can run, and `blocked` says why. A process that runs goes on. */
  async #program(mayDownload: boolean): Promise<FoundProgram | undefined> {
    const { sidecar } = this;
    const problem = await inTime(PROBLEM_MS, 'asking for problems', () => sidecar.problem?.());
    if (problem !== undefined) return this.#block(problem);
    let found = await findProgram(sidecar.program, this.#needs.dataDirectory);
    if ('missing' in found && mayDownload) found = (await this.#needs.download(sidecar)) ?? found;
    if ('missing' in found) return this.#block(found.missing);
    this.#blocked = '';
    return found;
  }

  #block(reason: string): undefined {
    if (reason !== this.#blocked)
      this.#needs.log.warn('a sidecar cannot run; its inbounds serve nobody', {
        protocol: this.sidecar.protocol,
        reason,
      });
    this.#blocked = reason;
    this.#retryAt = performance.now() + 60_000;
    return undefined;
  }

  #checked(plans: readonly InstancePlan[], inbounds: readonly Inbound[]): readonly InstancePlan[] {
    if (!Array.isArray(plans) || plans.length > MOST_INSTANCES)
      throw new Error(`plan must return a list of at most ${MOST_INSTANCES} instances`);
    const names = new Set<string>();
    const free = new Set(inbounds.map(({ id }) => id));
    for (const { name, inboundIds, process, ports = [], nftTables = [] } of plans) {
      if (!NAME.test(name) || names.has(name))
        throw new Error(`plan has an instance ${JSON.stringify(name)}: not a valid name, or twice`);
      names.add(name);
      if (typeof process !== 'function') throw new Error(`the instance ${name} needs a function process`);
      if (new Set(ports).size !== ports.length) throw new Error(`the instance ${name} names a port twice`);
      if (nftTables.length > MOST_TABLES || !nftTables.every(isTableName))
        throw new Error(`nftTables of the instance ${name} must be names such as weir_acme_1`);
      for (const id of inboundIds)
        if (!free.delete(id)) throw new Error(`the instance ${name} has inbound ${id}, which is not free`);
    }
    return plans;
  }

  state(inbound: Inbound): string {
    const instance = this.#byInbound.get(inbound.id);
    if (instance) return instance.state;
    return `not running: ${this.#blocked || 'it is being started'}`;
  }

  get instances(): readonly Instance[] {
    return [...this.#instances.values()];
  }

  /** Why processes that run go on in their previous way: the program, or a right, has gone since; empty for nothing. */
  get heldBack(): string {
    return this.#instances.size > 0 ? this.#blocked : '';
  }

  describe(): SidecarStatus[] {
    return this.instances.map((instance) => {
      const status = instance.describe();
      return { ...status, problem: status.problem || this.#blocked };
    });
  }

  /** Brings users of its inbounds to the programs. Resolves after some seconds at most. */
  async change(refs: readonly UserRef[]): Promise<Applied> {
    const byInstance = new Map<Instance, UserRef[]>();
    let missing: string | undefined;
    for (const ref of refs) {
      const instance = this.#byInbound.get(ref.inboundId);
      const list = instance && byInstance.get(instance);
      if (list) list.push(ref);
      else if (instance) byInstance.set(instance, [ref]);
      else missing ??= this.#stateOf(ref.inboundId);
    }
    const answers = await Promise.all(
      [...byInstance].map(([instance, some]) =>
        inTime(ANSWER_MS, 'bringing the change to the program', () => instance.change(some)).catch(
          (error: unknown) => ({ pending: true, reason: messageOf(error) }),
        ),
      ),
    );
    const pending = answers.find((answer) => answer.pending);
    return pending ?? { pending: missing !== undefined, reason: missing ?? '' };
  }

  /** Undefined where nothing should run. */
  #stateOf(inboundId: number): string | undefined {
    const inbound = this.#needs.inbounds.get(inboundId);
    return inbound?.enable ? this.state(inbound) : undefined;
  }

  async read(now: number): Promise<CounterReading[]> {
    const readings = await Promise.all([...this.#instances.values()].map((one) => one.read(now)));
    return readings.flatMap((reading) => reading ?? []);
  }

  async retry(): Promise<void> {
    if (this.#blocked !== '' && performance.now() >= this.#retryAt) await this.apply();
    await Promise.all([...this.#instances.values()].map((one) => one.retry()));
  }

  /** Counts what instances of previous panels have moved that this one does not have, before they are stopped. */
  countLeft(leftovers: Leftovers): Promise<void> {
    const needs = { ...this.#needs, sidecar: this.sidecar };
    return this.#queue.run(() => leftovers.count(needs, (name) => this.#instances.has(name)));
  }

  /** Removes what instances of previous panels left that this one does not have. */
  removeLeft(leftovers: Leftovers): Promise<void> {
    return this.#queue.run(() =>
      leftovers.remove(this.sidecar.protocol, (name) => this.#instances.has(name)),
    );
  }

  /** Stops all processes after a last reading; `letGo`: another panel takes them. */
  async close(letGo: boolean): Promise<void> {
    this.#closed = true;
    const all = [...this.#instances.values()];
    if (letGo) for (const instance of all) instance.release();
    else await Promise.all(all.map((instance) => instance.close(false)));
  }
}
