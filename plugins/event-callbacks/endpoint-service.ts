// What admins do with endpoints.
import { randomUUID } from 'node:crypto';
import type { Clock, Principal } from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { Attempts, Outcome } from './attempt.js';
import { callbackUrlProblem } from './callback-url.js';
import type { Deliverer } from './deliverer.js';
import type { DeliveryLog } from './delivery-log.js';
import { type EndpointStore, endpointVersion } from './endpoint-store.js';
import { errors } from './errors.js';
import type { EventTypes } from './event-types.js';
import type { EndpointReply, SentEndpoint, SentEndpointChange } from './fields.js';
import type { Outbox } from './outbox.js';
import type { Progress } from './progress.js';
import type { EndpointRow } from './tables.js';

const AREA = 'eventCallback';

interface Needs {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly audit?: AuditTrailApi | undefined;
  readonly store: EndpointStore;
  readonly eventTypes: EventTypes;
  readonly attempts: Attempts;
  readonly progress: Progress;
  readonly outbox: Outbox;
  readonly deliverer: Deliverer;
  readonly deliveryLog: DeliveryLog;
}

function checkUrl(url: string): void {
  const problem = callbackUrlProblem(url);
  if (problem !== undefined) throw errors.URL(`url: ${problem}`, { path: 'url' });
}

export class EndpointService {
  readonly #needs: Needs;
  readonly #pinged = new Set<string>();

  constructor(needs: Needs) {
    const { clock, signal, audit, store, eventTypes, attempts, progress, outbox, deliverer, deliveryLog } =
      needs;
    this.#needs = {
      ...{ clock, signal, audit, store, eventTypes, attempts, progress, outbox, deliverer, deliveryLog },
    };
  }

  async list(): Promise<EndpointReply[]> {
    // What came of the last attempts is in the numbers.
    await this.#needs.progress.flush();
    return Promise.all(this.#needs.store.list().map((row) => this.#shown(row)));
  }
  async get(id: string): Promise<EndpointReply> {
    const found = this.#needs.store.find(id);
    await this.#needs.progress.flush();
    return this.#shown(found);
  }

  async #shown(row: EndpointRow): Promise<EndpointReply> {
    const { progress, deliveryLog, clock } = this.#needs;
    const { id, url, description, events, enable, allowPrivate, disabledReason, createdAt, updatedAt } = row;
    const [position, waiting] = [await progress.of(id), await deliveryLog.waiting(id)];
    return {
      ...{
        id,
        url,
        description,
        events: [...events],
        enable,
        allowPrivate,
        disabledReason,
        createdAt,
        updatedAt,
      },
      previousSecretUntil: row.previousUntil > clock.now() ? row.previousUntil : 0,
      waiting,
      dropped: position?.dropped ?? 0,
      failures: position?.failures ?? 0,
      failingSince: position?.failingSince ?? 0,
      pausedUntil: position?.pausedUntil ?? 0,
      lastDeliveredAt: position?.lastDeliveredAt ?? 0,
      lastError: position?.lastError ?? '',
      version: endpointVersion.of(row),
    };
  }

  async add(
    sent: SentEndpoint,
    who: Principal,
    note?: (added: { id: string; secret: string }) => void,
  ): Promise<{ id: string; secret: string }> {
    const { store, eventTypes, deliveryLog } = this.#needs;
    checkUrl(sent.url);
    eventTypes.check(sent.events);
    const { id, url, events, description = '', enable = true, allowPrivate = false } = sent;
    const values = { id, url, events: [...new Set(events)], description, enable, allowPrivate };
    if (id !== undefined) await deliveryLog.removeLeft(id);
    return store.add(values, who, note);
  }

  async change(id: string, sent: SentEndpointChange, who: Principal): Promise<EndpointReply> {
    const { store, eventTypes, progress, outbox } = this.#needs;
    const before = store.find(id);
    const { skipWaiting = false, events, ...fields } = sent;
    if (fields.url !== undefined) checkUrl(fields.url);
    if (events) eventTypes.check(events);
    const isFresh = fields.enable === true || (fields.url !== undefined && fields.url !== before.url);
    await progress.flush();
    const position = await progress.of(id);
    const reached = position?.position ?? 0;
    // Before the commit wakes the worker, which would go on with what waits.
    if (position && skipWaiting) position.position = Math.max(reached, await outbox.newest());
    const saved = store.change(
      id,
      {
        ...fields,
        ...(events && { events: [...new Set(events)] }),
        ...(fields.enable !== undefined && { disabledReason: '' }),
      },
      who,
      async (tx) => {
        if (skipWaiting)
          await tx.run(
            `UPDATE event_callback_deliveries SET state = 'failed', error = 'skipped by an admin'
             WHERE endpoint_id = :id AND state = 'waiting'`,
            { id },
          );
      },
    );
    const after = await saved.catch((error: unknown) => {
      if (position) position.position = reached;
      throw error;
    });
    // Another address, or one that an admin has repaired: the next attempt is made at once.
    if (position && isFresh) Object.assign(position, { failures: 0, failingSince: 0, pausedUntil: 0 });
    if (position && isFresh && Number.isFinite(position.nextRetryAt)) await this.#dueNow(id);
    progress.moved(id);
    this.#needs.deliverer.wake();
    return this.#shown(after);
  }

  async #dueNow(id: string): Promise<void> {
    const { deliveryLog, progress } = this.#needs;
    await deliveryLog.dueNow(id);
    const position = progress.known(id);
    if (position) position.nextRetryAt = 0;
  }

  async rotate(
    id: string,
    overlapHours: number,
    who: Principal,
    note?: (made: { secret: string; previousUntil: number }) => void,
  ): Promise<{ secret: string; previousUntil: number }> {
    return this.#needs.store.rotate(id, overlapHours * 3_600_000, who, note);
  }

  remove(id: string, who: Principal): Promise<void> {
    return this.#needs.store.remove(id, who);
  }

  /** One attempt, beside the queue, also while the endpoint is disabled. One at a time: many that hang would take the places of deliveries. */
  async ping(id: string, signal: AbortSignal): Promise<Outcome> {
    const endpoint = this.#needs.store.find(id);
    if (this.#pinged.has(id)) throw errors.BUSY('a ping of this endpoint is under way');
    const timestamp = new Date(this.#needs.clock.now()).toISOString();
    const body = JSON.stringify({ type: 'ping', timestamp, data: { endpoint: id } });
    const uid = `msg_${randomUUID().replaceAll('-', '')}`;
    const end = AbortSignal.any([signal, this.#needs.signal]);
    this.#pinged.add(id);
    try {
      return await this.#needs.attempts.make(endpoint, { uid, body }, end);
    } finally {
      this.#pinged.delete(id);
    }
  }

  async again(deliveryId: number, who: Principal): Promise<void> {
    const { audit, deliveryLog } = this.#needs;
    await audit?.act(AREA, who, { name: 'redelivery', facts: { delivery: deliveryId } });
    this.#retryNow(await deliveryLog.again(deliveryId));
  }

  async spanAgain(
    id: string,
    span: { from: number; to?: number | undefined; onlyFailed: boolean },
    who: Principal,
  ): Promise<number> {
    const { audit, deliveryLog, store, clock } = this.#needs;
    store.find(id);
    const { from, to = clock.now(), onlyFailed } = span;
    await audit?.act(AREA, who, { name: 'redelivery', facts: { endpoint: id, from, to, onlyFailed } });
    const count = await deliveryLog.spanAgain(id, { from, to, onlyFailed });
    if (count > 0) this.#retryNow(id);
    return count;
  }

  #retryNow(id: string): void {
    const position = this.#needs.progress.known(id);
    if (position) position.nextRetryAt = 0;
    this.#needs.deliverer.wake();
  }
}
