// Keeps a process running: starts it, restarts it when it exits, stops it, one step after another.
import { messageOf, SerialQueue } from '../../kernel/index.js';
import { BackOff } from './back-off.js';
import type { ManagedProcess, ProcessOptions, ProcessState } from './contract.js';
import { cutLog } from './cut-log.js';
import { endLeft, endOf, type Live, logOf, type Place, startOnce, StartFailed } from './one-start.js';
import type { Plan } from './options.js';

/** The longest time that a process can delay the stop of the panel. */
const LAST_GRACE_MS = 5_000;

export interface Surroundings extends Place {
  readonly planOf: (options: ProcessOptions) => Plan;
  /** whether processes may be started already */
  readonly isOpen: () => boolean;
  /** resolves when no other operation uses this place */
  readonly isFree: () => Promise<unknown>;
  readonly onState: (from: ProcessState, to: ProcessState) => void;
}

const linesOf = (error: unknown): readonly string[] => (error instanceof StartFailed ? error.lastLines : []);
const reasonOf = (state: ProcessState): string => ('reason' in state ? state.reason : '');

export class Managed implements ManagedProcess {
  readonly folder: string;
  readonly #around: Surroundings;
  readonly #listeners = new Set<(state: ProcessState) => void>();
  #options: ProcessOptions;
  #plan: Plan;
  #backOff: BackOff;
  #state: ProcessState = { name: 'stopped' };
  #wanted = false;
  /** the panel stops: no process is started any more */
  #closed = false;
  #failures = 0;
  /** the reason that was logged last */
  #toldReason = '';
  #live: Live | undefined;
  /** aborts the start that is under way */
  #abort = new AbortController();
  readonly #queue = new SerialQueue();

  constructor(options: ProcessOptions, around: Surroundings) {
    this.folder = around.folder;
    this.#around = around;
    this.#options = options;
    this.#plan = around.planOf(options);
    this.#backOff = this.#newBackOff();
  }

  get state(): ProcessState {
    return this.#state;
  }
  get wanted(): boolean {
    return this.#wanted;
  }

  async start(): Promise<ProcessState> {
    this.#wanted = true;
    if (!this.#around.isOpen()) {
      if (this.#state.name === 'stopped')
        this.#enter({ name: 'waiting', until: 0, reason: 'the panel is not open yet', lastLines: [] });
      return this.#state;
    }
    return this.#queue.run(() => this.#bringUp(true));
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    this.#backOff.cancel();
    this.#abort.abort();
    await this.#queue.run(() => this.#bringDown(this.#plan.stopGrace));
  }

  async restart(changes: Partial<Omit<ProcessOptions, 'name'>> = {}): Promise<ProcessState> {
    const options = { ...this.#options, ...changes, name: this.#options.name };
    const plan = this.#around.planOf(options);
    const stopped = this.stop();
    // In the same tick, so that later calls use the new options.
    const changed = this.#queue.run(async () => {
      this.#options = options;
      this.#plan = plan;
      this.#backOff = this.#newBackOff();
    });
    const started = this.start();
    await stopped;
    await changed;
    return started;
  }

  onState(listener: (state: ProcessState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Releases the process for another panel, or stops it. */
  async close(letGo: boolean): Promise<void> {
    this.#closed = true;
    this.#backOff.cancel();
    this.#abort.abort();
    this.#listeners.clear();
    await this.#queue.run(async () => {
      if (letGo && this.#plan.adopt && this.#wanted && this.#live !== undefined) {
        this.#live.process.release();
        this.#live = undefined;
      } else if (this.#live !== undefined)
        await this.#bringDown(Math.min(this.#plan.stopGrace, LAST_GRACE_MS));
    });
  }

  /** Truncates the log if it is over its limit. */
  async cutLog(): Promise<void> {
    await cutLog(logOf(this.folder), this.#plan.log);
  }

  #newBackOff(): BackOff {
    return new BackOff(() => void this.#queue.run(() => this.#bringUp(false)), this.#plan.backOff);
  }

  /** @param asked by its owner, and not by the back-off */
  async #bringUp(asked: boolean): Promise<ProcessState> {
    if (!this.#wanted || this.#closed || this.#live !== undefined) return this.#state;
    if (asked) {
      this.#backOff.cancel();
      this.#failures = 0;
    }
    const abort = new AbortController();
    this.#abort = abort;
    this.#enter({ name: 'starting' });
    try {
      await this.#around.isFree();
      this.#took(await startOnce(this.#plan, this.#around, abort.signal));
    } catch (error) {
      // A stop is under way and sets the state.
      if (!abort.signal.aborted) this.#failed(error);
    }
    return this.#state;
  }

  #took(live: Live): void {
    this.#live = live;
    const { identity, startedAt } = live.process;
    this.#enter({ name: 'running', pid: identity.pid, since: startedAt, adopted: live.adopted });
    void live.process.ended.then((how) => this.#queue.run(() => this.#died(live, how)));
  }

  async #died(live: Live, how: string): Promise<void> {
    // A process that was stopped has not failed.
    if (this.#live !== live) return;
    this.#live = undefined;
    this.#backOff.lived(Date.now() - live.process.startedAt);
    if (Date.now() - live.process.startedAt > (this.#plan.backOff.healthy ?? 0)) this.#failures = 0;
    this.#failed(await endOf(how, this.#around, live.logFrom));
  }

  #failed(error: unknown): void {
    this.#failures += 1;
    if (!this.#wanted || this.#closed) this.#enter({ name: 'stopped' });
    else if (this.#failures >= this.#plan.attempts) this.#giveUp(messageOf(error), linesOf(error));
    else this.#wait(messageOf(error), linesOf(error));
  }

  #giveUp(reason: string, lastLines: readonly string[]): void {
    const process = this.#plan.name;
    this.#around.log.error('the process failed too often and is not tried again', { process, reason });
    this.#wanted = false;
    this.#enter({ name: 'failed', reason, lastLines });
  }

  #wait(reason: string, lastLines: readonly string[]): void {
    const inMs = this.#backOff.later();
    // Logged once for each reason: the same line at each attempt would fill the log.
    if (reason !== this.#toldReason)
      this.#around.log.warn('the process failed; retrying', { process: this.#plan.name, reason, inMs });
    this.#toldReason = reason;
    this.#enter({ name: 'waiting', until: Date.now() + inMs, reason, lastLines });
  }

  async #bringDown(grace: number): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    this.#toldReason = '';
    this.#enter({ name: this.#around.isOpen() ? 'stopping' : 'stopped' });
    if (!this.#around.isOpen()) return;
    try {
      await this.#around.isFree();
      if (live === undefined) await endLeft(this.#around, this.#plan.stopSignal, grace);
      else {
        await live.process.stop(this.#plan.stopSignal, grace);
        await this.#around.slot.endStrays();
        await live.process.forget();
        this.#around.log.info('process stopped', {
          process: this.#plan.name,
          pid: live.process.identity.pid,
        });
      }
    } finally {
      this.#enter({ name: 'stopped' });
    }
  }

  #enter(to: ProcessState): void {
    const from = this.#state;
    this.#state = Object.freeze(to);
    if (from.name === to.name && reasonOf(from) === reasonOf(to)) return;
    this.#around.onState(from, to);
    for (const listener of this.#listeners) {
      try {
        listener(this.#state);
      } catch (error) {
        this.#around.log.error('a listener of a process failed', { process: this.#plan.name, error });
      }
    }
  }
}
