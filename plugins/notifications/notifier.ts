// Sends the events that an admin has chosen to every enabled channel.
import { randomUUID } from 'node:crypto';
import {
  type Clock,
  type Log,
  messageOf,
  type PluginContext,
  type LiveSettings,
} from '../../kernel/index.js';
import { Channels, type Notification } from './contract.js';
import { ChannelQueue } from './channel-queue.js';
import type { EventName, notificationSettings } from './settings.js';
import { blocked } from './texts.js';

/** One notification per guessing address in this time. */
const QUIET_MS = 15 * 60_000;
const MOST_ADDRESSES = 1_000;
const LONGEST_REASON = 500;

export interface Outcome {
  readonly channel: string;
  readonly plugin: string;
  readonly delivered: boolean;
  /** empty when it was delivered */
  readonly reason: string;
}

export class Notifier {
  readonly #settings: LiveSettings<typeof notificationSettings>;
  readonly #contributions: PluginContext['contributions'];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  /** time of the last notification about an address */
  readonly #told = new Map<string, number>();
  #queues: readonly ChannelQueue[] = [];

  constructor({
    settings,
    contributions,
    clock,
    log,
    signal,
  }: {
    settings: LiveSettings<typeof notificationSettings>;
    contributions: PluginContext['contributions'];
    clock: Clock;
    log: Log;
    signal: AbortSignal;
  }) {
    this.#settings = settings;
    this.#contributions = contributions;
    this.#clock = clock;
    this.#log = log;
    this.#signal = signal;
  }

  start(): void {
    this.#queues = this.#contributions(Channels).map(
      (entry) => new ChannelQueue(entry, this.#log, this.#signal),
    );
  }

  tell(told: Pick<Notification, 'text' | 'data'> & { readonly event: EventName }): void {
    if (!this.#settings.read().notificationEvents.includes(told.event)) return;
    const notification = this.#make(told);
    for (const queue of this.#queues) queue.push(notification);
  }

  loginBlocked(ip: string, username: string): void {
    const now = this.#clock.now();
    if ((this.#told.get(ip) ?? -QUIET_MS) > now - QUIET_MS) return;
    this.#told.delete(ip);
    this.#told.set(ip, now);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MOST_ADDRESSES && oldest !== undefined) this.#told.delete(oldest);
    this.tell(blocked(ip, username));
  }

  /** Makes one attempt over every enabled channel, ahead of queued notifications. */
  async test(): Promise<Outcome[]> {
    const notification = this.#make({ event: 'test', text: 'this is a test', data: {} });
    const attempt = async (queue: ChannelQueue): Promise<Outcome> => {
      const reason = await queue.attempt(notification).then(
        () => '',
        (error: unknown) => messageOf(error).slice(0, LONGEST_REASON) || 'no reason given',
      );
      return { channel: queue.name, plugin: queue.plugin, delivered: reason === '', reason };
    };
    return Promise.all(this.#queues.filter((queue) => queue.isOn()).map(attempt));
  }

  #make(told: Pick<Notification, 'event' | 'text' | 'data'>): Notification {
    return { id: randomUUID(), at: this.#clock.now(), severity: 'info', title: told.event, ...told };
  }
}
