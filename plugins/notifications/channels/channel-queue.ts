// The queue of one channel: one attempt at a time, so that a slow channel delays only itself. What does not fit into
// memory stays in the delivery log and is read when there is room.
import type { Clock, Log } from '../../../kernel/index.js';
import {
  askedPause,
  type Delivery,
  GIVE_UP_MS,
  LONGEST_ASKED_MS,
  isPermanent,
  pauseAfter,
  problemOf,
  rankOf,
} from '../deliveries/delivery.js';
import type { DeliveryStore } from '../deliveries/delivery-store.js';
import type { ChannelCaller } from './channel-caller.js';

/** Notifications in memory. */
const MOST_IN_MEMORY = 500;
/** Notifications that wait at all; critical ones may wait twice as many. */
const MOST_WAITING = 10_000;
/** Failures in a row after which the whole channel pauses: each attempt may take ten seconds. */
const FAILURES_BEFORE_PAUSE = 3;
const LONGEST_CHANNEL_PAUSE_MS = 60_000;

export class ChannelQueue {
  readonly caller: ChannelCaller;
  readonly #store: DeliveryStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stop: AbortSignal;
  readonly #waiting: Delivery[] = [];
  /** the log may have more that waits */
  #hasMore = false;
  #inLog = 0;
  #draining: Promise<void> | undefined;
  #failures = 0;
  #dropped = 0;
  pausedUntil = 0;
  lastProblem = '';

  constructor(needs: {
    caller: ChannelCaller;
    store: DeliveryStore;
    clock: Clock;
    log: Log;
    stop: AbortSignal;
    inLog: number;
  }) {
    this.caller = needs.caller;
    this.#store = needs.store;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#stop = needs.stop;
    this.#inLog = needs.inLog;
    this.#hasMore = needs.inLog > 0;
  }

  /** about: what was read from the log may have been counted twice */
  get size(): number {
    return this.#waiting.length + this.#inLog;
  }

  get(id: number): Delivery | undefined {
    return this.#waiting.find((delivery) => delivery.id === id);
  }

  /** Queues a delivery and returns at once. `isStored`: it is in the log already. */
  push(delivery: Delivery, isStored = false): void {
    if (!this.#store.sends) {
      if (!isStored) this.#store.hand(delivery);
      return;
    }
    // It may have been read from the log since its write ended.
    if (this.get(delivery.id)) return;
    if (this.isFullFor(delivery)) this.#drop(delivery);
    else if (this.#waiting.length < MOST_IN_MEMORY) this.#waiting.push(delivery);
    else if (!this.#store.isFailing) {
      this.#hasMore = true;
      this.#inLog++;
      this.#preferTo(delivery);
    } else this.#makeRoomFor(delivery);
    if (!isStored || delivery.state !== 'waiting') this.#store.save(delivery);
    this.kick();
  }

  /** Whether so many wait that this one would be dropped. */
  isFullFor(delivery: Delivery): boolean {
    return this.size >= (rankOf(delivery) === 2 ? 2 * MOST_WAITING : MOST_WAITING);
  }

  /** Puts a severe one in the place of another, which is read from the log again: it must not wait until half of the memory is sent. */
  #preferTo(delivery: Delivery): Delivery | undefined {
    const least = this.#waiting.reduce((a, b) => (rankOf(b) <= rankOf(a) ? b : a), delivery);
    if (rankOf(least) >= rankOf(delivery)) return undefined;
    this.#waiting.splice(this.#waiting.indexOf(least), 1, delivery);
    return least;
  }

  /** While the database fails, memory is all there is: the least severe goes, the newest of them first. */
  #makeRoomFor(delivery: Delivery): void {
    const least = this.#preferTo(delivery);
    if (least) {
      this.#drop(least);
      this.#store.save(least);
    } else this.#drop(delivery);
  }

  #drop(delivery: Delivery): void {
    delivery.state = 'dropped';
    delivery.problem = 'the queue of the channel is full';
    if (this.#dropped++ === 0)
      this.#log.warn('the queue of a channel is full; dropping notifications', {
        channel: this.caller.name,
        of: this.caller.plugin,
      });
  }

  /** Lets the queue go on, if it is not at work: called for what is new, and every second for what is due. */
  kick(): void {
    if (this.#stop.aborted || !this.#store.sends || (this.#waiting.length === 0 && !this.#hasMore)) return;
    this.#draining ??= this.#drain()
      .catch((error: unknown) =>
        this.#log.error('the queue of a channel failed; it goes on with the next second', {
          channel: this.caller.name,
          reason: problemOf(error),
        }),
      )
      .finally(() => {
        this.#draining = undefined;
      });
  }

  /** This panel sends from now on: `inLog` wait in the log, where other panels have left them. */
  begin(inLog: number): void {
    this.#inLog = inLog;
    this.#hasMore = inLog > 0;
    this.kick();
  }

  /** Resolves when no attempt is under way. */
  async settled(): Promise<void> {
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (!this.#stop.aborted && this.#store.sends) {
      await this.#refill();
      const now = this.#clock.now();
      this.#giveUpOld(now);
      if (isAhead(this.pausedUntil, now) || this.#waiting.length === 0 || !this.caller.isOn()) break;
      const next = this.#nextDue(now);
      if (!next) break;
      await this.#deliver(next);
    }
    if (this.#dropped === 0 || this.#waiting.length > 0) return;
    this.#log.warn('the queue of a channel has room again', {
      channel: this.caller.name,
      of: this.caller.plugin,
      dropped: this.#dropped,
    });
    this.#dropped = 0;
  }

  async #refill(): Promise<void> {
    if (!this.#hasMore || this.#waiting.length > MOST_IN_MEMORY / 2) return;
    await this.#store.flush();
    if (this.#store.isFailing) return;
    this.#hasMore = false;
    const room = MOST_IN_MEMORY - this.#waiting.length;
    const found = await this.#store.waiting(this.caller.name, MOST_IN_MEMORY).catch(() => undefined);
    if (!found) {
      this.#hasMore = true;
      return;
    }
    const known = new Set(this.#waiting.map(({ id }) => id));
    const more = found.filter(({ id }) => !known.has(id));
    this.#waiting.push(...more.slice(0, room));
    const isAll = found.length < MOST_IN_MEMORY && more.length <= room;
    this.#hasMore ||= !isAll;
    this.#inLog = isAll ? 0 : Math.max(0, this.#inLog - room);
  }

  #nextDue(now: number): Delivery | undefined {
    let best: Delivery | undefined;
    for (const delivery of this.#waiting) {
      if (isAhead(delivery.nextAt, now)) continue;
      if (
        !best ||
        rankOf(delivery) > rankOf(best) ||
        (rankOf(delivery) === rankOf(best) && delivery.id < best.id)
      )
        best = delivery;
    }
    return best;
  }

  #giveUpOld(now: number): void {
    for (const delivery of [...this.#waiting]) {
      if (now - delivery.queuedAt < GIVE_UP_MS) continue;
      delivery.problem = `${delivery.problem || 'no attempt was made'} (given up after a day)`.slice(-500);
      this.#end(delivery, 'failed');
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    try {
      await this.caller.attempt(delivery.notification, delivery.client);
      delivery.attempts++;
      delivery.attemptedAt = this.#clock.now();
      delivery.problem = '';
      this.#failures = 0;
      this.lastProblem = '';
      this.#end(delivery, 'delivered');
    } catch (error) {
      // An attempt that the stop of the panel cut off says nothing about the channel.
      if (!this.#stop.aborted) this.#failed(delivery, error);
    }
  }

  #failed(delivery: Delivery, error: unknown): void {
    const now = this.#clock.now();
    delivery.attempts++;
    delivery.attemptedAt = now;
    delivery.problem = problemOf(error);
    this.lastProblem = delivery.problem;
    const asked = askedPause(error);
    if (isPermanent(error)) this.#end(delivery, 'failed');
    else {
      delivery.nextAt = now + (asked ?? pauseAfter(delivery.attempts));
      this.#store.save(delivery);
    }
    if (asked !== undefined) this.pausedUntil = now + asked;
    else if (!isPermanent(error) && ++this.#failures >= FAILURES_BEFORE_PAUSE)
      this.pausedUntil =
        now + Math.min(pauseAfter(this.#failures - FAILURES_BEFORE_PAUSE + 1), LONGEST_CHANNEL_PAUSE_MS);
    // Mostly the network or the receiver fails, so it is not a fault of the plugin.
    if (delivery.attempts === 1 || delivery.state === 'failed')
      this.#log.warn('a notification could not be delivered', {
        channel: this.caller.name,
        of: this.caller.plugin,
        event: delivery.notification.event,
        retries: delivery.state === 'waiting',
        reason: delivery.problem,
      });
  }

  #end(delivery: Delivery, state: 'delivered' | 'failed'): void {
    delivery.state = state;
    const at = this.#waiting.indexOf(delivery);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#store.save(delivery);
  }
}

/** A clock that was set back must not hold a queue for longer than a pause lasts. */
const isAhead = (time: number, now: number): boolean => time > now && time <= now + LONGEST_ASKED_MS;
