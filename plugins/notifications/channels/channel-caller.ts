// Calls the functions of a channel, none of which is trusted: each may throw, hang, or return what it should not.
import type { Contributed } from '../../../kernel/index.js';
import type { Channel, ClientRecipient, Notification } from '../contract.js';

export const ATTEMPT_LIMIT_MS = 10_000;
const LONGEST_ATTEMPT_MS = 60_000;
const MOST_EVENTS = 200;
const LANGUAGE = /^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}$/;

export class ChannelCaller {
  readonly plugin: string;
  readonly name: string;
  readonly #channel: Channel;
  readonly #fault: Contributed<Channel>['fault'];
  readonly #stop: AbortSignal;

  constructor({ plugin, value, fault }: Contributed<Channel>, stop: AbortSignal) {
    this.plugin = plugin;
    this.name = value.name;
    this.#channel = value;
    this.#fault = fault;
    this.#stop = stop;
  }

  isOn(): boolean {
    return (
      this.#ask(
        'isOn',
        () => this.#channel.isOn(),
        (it) => typeof it === 'boolean',
        'true or false',
      ) ?? false
    );
  }

  get reachesClients(): boolean {
    return this.#channel.sendToClient !== undefined;
  }

  language(): string {
    if (!this.#channel.language) return 'en';
    const isTag = (it: unknown): boolean => typeof it === 'string' && LANGUAGE.test(it);
    return (
      this.#ask('language', () => this.#channel.language?.(), isTag, 'a tag such as en or zh-CN') ?? 'en'
    );
  }

  /** Names of the events that it wants; undefined where the setting decides. */
  events(): readonly string[] | undefined {
    if (!this.#channel.events) return undefined;
    const areNames = (it: unknown): boolean =>
      Array.isArray(it) && it.length <= MOST_EVENTS && it.every((name) => typeof name === 'string');
    // Without a usable list the setting decides: a missed alarm is worse than one too many.
    return this.#ask(
      'events',
      () => this.#channel.events?.(),
      areNames,
      `at most ${MOST_EVENTS} names of events`,
    );
  }

  #ask<T>(part: string, call: () => T, fits: (value: unknown) => boolean, expected: string): T | undefined {
    try {
      const value = call();
      if (fits(value)) return value;
      const given: unknown = value;
      if (given instanceof Promise) given.catch(() => undefined);
      throw new Error(`it returned ${shown(given)} instead of ${expected}`);
    } catch (error) {
      this.#fault(`${part} of the channel ${this.name}`, error);
      return undefined;
    }
  }

  /** Makes one attempt; rejects when the notification was not delivered in time. */
  async attempt(notification: Notification, client?: ClientRecipient): Promise<void> {
    const asked: unknown = this.#channel.attemptLimitMs;
    const limitMs =
      typeof asked === 'number' && asked > 0 ? Math.min(asked, LONGEST_ATTEMPT_MS) : ATTEMPT_LIMIT_MS;
    const late = new AbortController();
    const signal = AbortSignal.any([this.#stop, late.signal]);
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      timer = setTimeout(
        () => late.abort(new Error(`the channel took longer than ${limitMs / 1000} s`)),
        limitMs,
      );
    });
    over.catch(() => undefined);
    try {
      const answer: unknown = await Promise.race([this.#send(notification, client, signal), over]);
      if (answer !== undefined) this.#junk(answer);
    } finally {
      clearTimeout(timer);
      // A channel that goes on after its time must not keep what it works on.
      late.abort();
    }
  }

  async #send(
    notification: Notification,
    client: ClientRecipient | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (!client) return this.#channel.send(notification, signal);
    if (!this.#channel.sendToClient) throw new Error('the channel does not reach clients any more');
    return this.#channel.sendToClient(notification, client, signal);
  }

  /** A value may be an unchecked response of the receiver: then nobody knows whether the notification arrived. */
  #junk(answer: unknown): void {
    this.#fault(
      `send of the channel ${this.name}`,
      new Error(`it returned ${shown(answer)}; it must return nothing, and reject when delivery fails`),
    );
  }
}
const shown = (value: unknown): string => (value === null ? 'null' : typeof value);
