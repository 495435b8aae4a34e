// What became of each event at each endpoint, and sending again.
import type { Clock, Database } from '../../kernel/index.js';
import type { EndpointStore } from './endpoint-store.js';
import { errors } from './errors.js';
import type { EventTypes } from './event-types.js';
import type { Progress } from './progress.js';
import type { DeliveryState } from './tables.js';

export interface Delivery {
  readonly id: number;
  readonly endpointId: string;
  readonly webhookId: string;
  readonly type: string;
  readonly at: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAt: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly status: number;
  readonly error: string;
  readonly ms: number;
}
export interface DeliveryFilter {
  readonly endpoint?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly type?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}
const CONDITIONS: Readonly<Record<Exclude<keyof DeliveryFilter, 'limit'>, string>> = {
  endpoint: 'd.endpoint_id = :endpoint',
  state: 'd.state = :state',
  type: 'm.type = :type',
  from: 'm.at >= :from',
  to: 'm.at <= :to',
  before: 'd.id < :before',
};
/** Rows of one write. */
const PORTION = 1_000;

export class DeliveryLog {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #store: EndpointStore;
  readonly #eventTypes: EventTypes;
  readonly #progress: Progress;

  constructor({
    db,
    clock,
    store,
    eventTypes,
    progress,
  }: {
    db: Database;
    clock: Clock;
    store: EndpointStore;
    eventTypes: EventTypes;
    progress: Progress;
  }) {
    this.#db = db;
    this.#clock = clock;
    this.#store = store;
    this.#eventTypes = eventTypes;
    this.#progress = progress;
  }

  async list(filter: DeliveryFilter): Promise<Delivery[]> {
    await this.#progress.flush();
    const { limit, ...given } = filter;
    const where = Object.entries(CONDITIONS).flatMap(([name, condition]) =>
      given[name as keyof typeof given] === undefined ? [] : [condition],
    );
    const rows = await this.#db.query<Delivery>(
      `SELECT d.id AS id, d.endpoint_id AS "endpointId", m.uid AS "webhookId", m.type AS type, m.at AS at, d.state AS state,
        d.attempts AS attempts, d.due_at AS "dueAt", d.first_at AS "firstAt", d.last_at AS "lastAt", d.status AS status,
        d.error AS error, d.ms AS ms
       FROM event_callback_deliveries d JOIN event_callback_messages m ON m.id = d.message_id
       JOIN event_callback_endpoints e ON e.id = d.endpoint_id
       ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY d.id DESC LIMIT ${limit}`,
      given,
    );
    const numbers = ['id', 'at', 'attempts', 'dueAt', 'firstAt', 'lastAt', 'status', 'ms'] as const;
    return rows.map((row) => ({
      ...row,
      ...(Object.fromEntries(numbers.map((name) => [name, Number(row[name])])) as unknown as Pick<
        Delivery,
        (typeof numbers)[number]
      >),
    }));
  }

  /** How many events wait for an endpoint. */
  async waiting(endpointId: string): Promise<number> {
    const position = await this.#progress.of(endpointId);
    const types = this.#eventTypes.chosen(this.#store.get(endpointId)?.events ?? []);
    const [row] = await this.#db.query<{ retries: number; ahead: number }>(
      `SELECT (SELECT COUNT(*) FROM event_callback_deliveries WHERE endpoint_id = :endpointId AND state = 'waiting') AS retries,
        (SELECT COUNT(*) FROM event_callback_messages WHERE id > :position ${types ? 'AND type IN (:types)' : ''}) AS ahead`,
      {
        endpointId,
        position: position?.position ?? 0,
        types: types?.length === 0 ? [''] : types,
      },
    );
    return Number(row?.retries ?? 0) + Number(row?.ahead ?? 0);
  }

  /** Sends one event again, whatever became of it. */
  async again(id: number): Promise<string> {
    await this.#progress.flush();
    const dueAt = this.#clock.now();
    return this.#db.write(async (tx) => {
      const [row] = await tx.query<{ endpointId: string }>(
        `SELECT d.endpoint_id AS "endpointId" FROM event_callback_deliveries d
         JOIN event_callback_endpoints e ON e.id = d.endpoint_id WHERE d.id = :id`,
        { id },
      );
      if (!row) throw errors.NO_DELIVERY(`there is no delivery ${id}`, { path: 'id' });
      await tx.run(
        `UPDATE event_callback_deliveries SET state = 'waiting', attempts = 0, due_at = :dueAt WHERE id = :id`,
        { id, dueAt },
      );
      return row.endpointId;
    });
  }

  /** Removes what a deleted endpoint has left, before another one gets its id. */
  async removeLeft(endpointId: string): Promise<void> {
    for (;;) {
      const left = await this.#db.query<{ id: number }>(
        `SELECT d.id AS id FROM event_callback_deliveries d LEFT JOIN event_callback_endpoints e ON e.id = d.endpoint_id
         WHERE d.endpoint_id = :endpointId AND e.id IS NULL LIMIT ${PORTION}`,
        { endpointId },
      );
      if (left.length === 0) return;
      const ids = left.map(({ id }) => Number(id));
      await this.#db.write((tx) =>
        tx.run('DELETE FROM event_callback_deliveries WHERE id IN (:ids)', { ids }),
      );
    }
  }

  /** Makes everything that waits for an endpoint due. */
  dueNow(endpointId: string): Promise<void> {
    return this.#db.write((tx) =>
      tx.run(
        `UPDATE event_callback_deliveries SET due_at = :now WHERE endpoint_id = :endpointId AND state = 'waiting' AND due_at > :now`,
        { endpointId, now: this.#clock.now() },
      ),
    );
  }

  /** Sends the stored events of a time span again that the endpoint wants; with `onlyFailed` those it did not take. Returns how many. */
  async spanAgain(
    endpointId: string,
    { from, to, onlyFailed }: { from: number; to: number; onlyFailed: boolean },
  ): Promise<number> {
    const { events } = this.#store.find(endpointId);
    const types = this.#eventTypes.chosen(events);
    await this.#progress.flush();
    const position = await this.#progress.of(endpointId);
    // What comes after this is sent anyway.
    const until = position?.position ?? 0;
    let count = 0;
    let after = 0;
    for (;;) {
      const ids = await this.#portion(endpointId, { from, to, onlyFailed, after, until, types });
      if (ids.length === 0) return count;
      await this.#queue(endpointId, ids);
      count += ids.length;
      after = ids.at(-1) ?? 0;
    }
  }

  async #portion(
    endpointId: string,
    span: {
      readonly from: number;
      readonly to: number;
      readonly onlyFailed: boolean;
      readonly after: number;
      readonly until: number;
      readonly types: readonly string[] | undefined;
    },
  ): Promise<number[]> {
    const { onlyFailed, types, ...rest } = span;
    if (types?.length === 0) return [];
    const rows = await this.#db.query<{ id: number }>(
      `SELECT m.id AS id FROM event_callback_messages m
       LEFT JOIN event_callback_deliveries d ON d.message_id = m.id AND d.endpoint_id = :endpointId
       WHERE m.at >= :from AND m.at <= :to AND m.id > :after AND m.id <= :until ${types ? 'AND m.type IN (:types)' : ''}
       ${onlyFailed ? "AND (d.id IS NULL OR d.state <> 'delivered')" : ''} ORDER BY m.id LIMIT ${PORTION}`,
      { ...rest, endpointId, types },
    );
    return rows.map(({ id }) => Number(id));
  }

  async #queue(endpointId: string, ids: readonly number[]): Promise<void> {
    const dueAt = this.#clock.now();
    await this.#db.write((tx) =>
      tx.run(
        `INSERT INTO event_callback_deliveries (endpoint_id, message_id, state, attempts, due_at, first_at, last_at, status, error, ms)
         SELECT :endpointId, m.id, 'waiting', 0, :dueAt, 0, 0, 0, '', 0 FROM event_callback_messages m
         JOIN event_callback_endpoints e ON e.id = :endpointId WHERE m.id IN (:ids)
         ${tx.sql.onConflict(
           'endpoint_id, message_id',
           `state = 'waiting', attempts = 0, due_at = ${tx.sql.incoming('due_at')}`,
         )}`,
        { endpointId, dueAt, ids },
      ),
    );
  }
}
