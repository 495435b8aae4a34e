// The queue of one channel: bounded and serial, so that a slow channel delays only itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contributed, type Log, messageOf } from '../../kernel/index.js';
import type { Channel, Notification } from './contract.js';

const MOST_WAITING = 100;
export const ATTEMPT_LIMIT_MS = 10_000;
/** Pauses between the attempts. */
const PAUSES_MS = [1_000, 15_000];

export class ChannelQueue {
  readonly plugin: string;
  readonly name: string;
  readonly #channel: Channel;
  readonly #fault: Contributed<Channel>['fault'];
  readonly #log: Log;
  readonly #stop: AbortSignal;
  readonly #waiting: Notification[] = [];
  #running: Promise<void> | undefined;
  #lost = 0;

  constructor({ plugin, value, fault }: Contributed<Channel>, log: Log, stop: AbortSignal) {
    this.plugin = plugin;
    this.name = value.name;
    this.#channel = value;
    this.#fault = fault;
    this.#log = log;
    this.#stop = stop;
  }

  isOn(): boolean {
    try {
      const isOn: unknown = this.#channel.isOn();
      if (typeof isOn === 'boolean') return isOn;
      if (isOn instanceof Promise) isOn.catch(() => undefined);
      throw new Error(`it returned ${typeof isOn} instead of true or false`);
    } catch (error) {
      this.#fault(`isOn of the channel ${this.name}`, error);
      return false;
    }
  }

  /** Queues a notification and returns at once. */
  push(notification: Notification): void {
    if (!this.isOn()) return;
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(notification);
    else if (this.#lost++ === 0)
      this.#log.warn('the queue of a channel is full; dropping notifications', {
        channel: this.name,
        of: this.plugin,
      });
    this.#running ??= this.#drain();
  }

  async #drain(): Promise<void> {
    for (let next = this.#waiting.shift(); next && !this.#stop.aborted; next = this.#waiting.shift()) {
      // Mostly the network or the receiver fails, so it is not a fault of the plugin.
      await this.#deliver(next).catch((error: unknown) =>
        this.#log.warn('a notification could not be delivered', {
          channel: this.name,
          of: this.plugin,
          event: next?.event,
          reason: messageOf(error),
        }),
      );
    }
    if (this.#lost > 0)
      this.#log.warn('the queue of a channel has room again', {
        channel: this.name,
        of: this.plugin,
        lost: this.#lost,
      });
    this.#lost = 0;
    this.#running = undefined;
  }

  async #deliver(notification: Notification): Promise<void> {
    for (const pause of [...PAUSES_MS, undefined]) {
      try {
        return await this.attempt(notification);
      } catch (error) {
        if (pause === undefined || this.#stop.aborted) throw error;
        await sleep(pause, undefined, { signal: this.#stop });
      }
    }
  }

  /** A value may be an unchecked response of the receiver: then nobody knows whether the notification arrived. */
  #junk(answer: unknown): void {
    this.#fault(
      `send of the channel ${this.name}`,
      new Error(
        `it returned ${answer === null ? 'null' : typeof answer}; it must return nothing, and reject when delivery fails`,
      ),
    );
  }

  /** Makes one attempt; rejects when the notification was not delivered in time. */
  async attempt(notification: Notification): Promise<void> {
    const late = new AbortController();
    const signal = AbortSignal.any([this.#stop, late.signal]);
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      timer = setTimeout(
        () => late.abort(new Error(`the channel took longer than ${ATTEMPT_LIMIT_MS / 1000} s`)),
        ATTEMPT_LIMIT_MS,
      );
    });
    try {
      const answer: unknown = await Promise.race([this.#channel.send(notification, signal), over]);
      if (answer !== undefined) this.#junk(answer);
    } finally {
      clearTimeout(timer);
    }
  }
}
