// The workers of all endpoints: one each, so that one that hangs delays no other.
import {
  type Clock,
  type Database,
  type Log,
  type LiveSettings,
  messageOf,
  type Principal,
  storageFailure,
} from '../../kernel/index.js';
import type { Attempts } from './attempt.js';
import type { EndpointStore } from './endpoint-store.js';
import { EndpointWorker } from './endpoint-worker.js';
import type { EventTypes } from './event-types.js';
import type { Outbox } from './outbox.js';
import type { Progress } from './progress.js';
import type { callbackSettings } from './settings.js';
import type { EndpointRow } from './tables.js';

const LOOK_MS = 1_000;
const LONGEST_REASON = 255;

interface Needs {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: Principal;
  readonly signal: AbortSignal;
  readonly settings: LiveSettings<typeof callbackSettings>;
  readonly store: EndpointStore;
  readonly eventTypes: EventTypes;
  readonly outbox: Outbox;
  readonly progress: Progress;
  readonly attempts: Attempts;
}

export class Deliverer {
  readonly #needs: Needs;
  readonly #workers = new Map<string, EndpointWorker>();
  #stopLooking: () => void = () => undefined;

  constructor(needs: Needs) {
    const { db, clock, log, self, signal, settings, store, eventTypes, outbox, progress, attempts } = needs;
    this.#needs = { db, clock, log, self, signal, settings, store, eventTypes, outbox, progress, attempts };
  }

  start(): void {
    const { store, outbox, clock } = this.#needs;
    store.onChange = (id) => this.#follow(id);
    outbox.onNew = () => this.wake();
    for (const { id } of store.list()) this.#follow(id);
    this.#stopLooking = clock.every(LOOK_MS, () => {
      for (const worker of this.#workers.values()) if (worker.isDue(clock.now())) worker.wake();
    });
  }

  /** Ends for good: another panel may deliver from here on. */
  async stop(): Promise<void> {
    this.#stopLooking();
    this.#needs.store.onChange = this.#needs.outbox.onNew = () => undefined;
    await Promise.all([...this.#workers.values()].map((worker) => worker.end()));
    await this.#needs.progress.close();
  }

  wake(): void {
    for (const worker of this.#workers.values()) worker.wake();
  }

  /** A sentence on endpoints that the panel has disabled; blank without one. */
  problem(): string {
    const off = this.#needs.store.list().filter(({ enable, disabledReason }) => !enable && disabledReason);
    const [first] = off;
    if (!first) return '';
    const name = first.description || first.id;
    return off.length === 1
      ? `callbacks to ${name} are disabled: ${first.disabledReason}`
      : `callbacks to ${off.length} endpoints are disabled, the first is ${name}`;
  }

  #follow(id: string): void {
    const { store, progress, signal } = this.#needs;
    const worker = this.#workers.get(id);
    const failingDays = (): number => this.#needs.settings.read().eventCallbackFailingDays;
    if (!store.get(id)) {
      this.#workers.delete(id);
      worker?.interrupt();
      progress.forget(id);
    } else if (worker) worker.interrupt();
    else {
      const made = new EndpointWorker(id, { ...this.#needs, giveUp: this.#giveUp, failingDays }, signal);
      this.#workers.set(id, made);
      made.wake();
    }
  }

  readonly #giveUp = async ({ id, description }: EndpointRow, reason: string): Promise<void> => {
    const { store, self, log } = this.#needs;
    const disabledReason = reason.slice(0, LONGEST_REASON);
    log.warn('disabled an endpoint of callbacks', { endpoint: id, description, reason });
    await store.change(id, { enable: false, disabledReason }, self).catch((error: unknown) => {
      if (!storageFailure(error))
        log.error('could not disable an endpoint of callbacks', { endpoint: id, reason: messageOf(error) });
    });
  };
}
