// Removes old events, in short writes, and counts what an endpoint did not get.
import type { Clock, Database, LiveSettings, Log } from '../../kernel/index.js';
import type { EndpointStore } from './endpoint-store.js';
import type { EventTypes } from './event-types.js';
import type { Progress } from './progress.js';
import type { callbackSettings } from './settings.js';

const DAY_MS = 86_400_000;
const PORTION = 500;
/** Of all endpoints; the oldest finished ones are removed first. */
const MOST_DELIVERIES = 200_000;

interface Dropped {
  readonly id: string;
  readonly description: string;
  readonly count: number;
}

export class Retention {
  readonly #needs: {
    readonly db: Database;
    readonly clock: Clock;
    readonly log: Log;
    readonly settings: LiveSettings<typeof callbackSettings>;
    readonly store: EndpointStore;
    readonly eventTypes: EventTypes;
    readonly progress: Progress;
  };

  constructor({
    db,
    clock,
    log,
    settings,
    store,
    eventTypes,
    progress,
  }: {
    db: Database;
    clock: Clock;
    log: Log;
    settings: LiveSettings<typeof callbackSettings>;
    store: EndpointStore;
    eventTypes: EventTypes;
    progress: Progress;
  }) {
    this.#needs = { db, clock, log, settings, store, eventTypes, progress };
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#needs.progress.flush();
    while (!signal.aborted && (await this.#removeMessages()));
    while (!signal.aborted && (await this.#removeDeliveries()));
  }

  /** Resolves with whether there are more. */
  async #removeMessages(): Promise<boolean> {
    const { db, clock, settings } = this.#needs;
    const { eventCallbackDays, eventCallbackMostEvents } = settings.read();
    const [found] = await db.query<{ old: number; count: number }>(
      `SELECT (SELECT COUNT(*) FROM event_callback_messages WHERE at < :oldest) AS old,
        (SELECT COUNT(*) FROM event_callback_messages) AS count`,
      { oldest: clock.now() - eventCallbackDays * DAY_MS },
    );
    const excess = Math.max(Number(found?.old ?? 0), Number(found?.count ?? 0) - eventCallbackMostEvents);
    if (excess <= 0) return false;
    const [last] = await db.query<{ id: number | null }>(
      `SELECT MAX(id) AS id FROM (SELECT id FROM event_callback_messages ORDER BY id LIMIT ${Math.min(excess, PORTION)}) AS x`,
    );
    const until = Number(last?.id ?? 0);
    const dropped = await this.#dropped(until);
    await db.write((tx) => tx.run('DELETE FROM event_callback_messages WHERE id <= :until', { until }));
    for (const one of dropped) this.#note(one, until);
    return excess > PORTION;
  }

  /** Counts for each endpoint the events up to this one that it has not got. */
  async #dropped(until: number): Promise<Dropped[]> {
    const { db, store, eventTypes, progress } = this.#needs;
    const all: Dropped[] = [];
    for (const { id, events, description } of store.list()) {
      const position = await progress.of(id);
      if (!position) continue;
      const types = eventTypes.chosen(events);
      const [row] = await db.query<{ ahead: number; retries: number }>(
        `SELECT (SELECT COUNT(*) FROM event_callback_messages WHERE id > :from AND id <= :until ${types ? 'AND type IN (:types)' : ''}) AS ahead,
          (SELECT COUNT(*) FROM event_callback_deliveries WHERE endpoint_id = :id AND state = 'waiting' AND message_id <= :until) AS retries`,
        { id, from: position.position, until, types: types?.length === 0 ? [''] : types },
      );
      all.push({ id, description, count: Number(row?.ahead ?? 0) + Number(row?.retries ?? 0) });
    }
    return all;
  }

  #note({ id, description, count }: Dropped, until: number): void {
    const { progress, log } = this.#needs;
    const position = progress.known(id);
    if (!position) return;
    position.position = Math.max(position.position, until);
    if (count === 0) return;
    position.dropped += count;
    progress.moved(id);
    log.warn('events were removed before an endpoint got them', {
      endpoint: id,
      description,
      dropped: count,
    });
  }

  /** Those of deleted endpoints, and the oldest where there are too many. Resolves with whether there may be more. */
  async #removeDeliveries(): Promise<boolean> {
    const { db } = this.#needs;
    const orphans = await db.query<{ id: number }>(
      `SELECT d.id AS id FROM event_callback_deliveries d LEFT JOIN event_callback_endpoints e ON e.id = d.endpoint_id
       WHERE e.id IS NULL LIMIT ${PORTION}`,
    );
    const [all] = await db.query<{ count: number }>(
      'SELECT COUNT(*) AS count FROM event_callback_deliveries',
    );
    const excess = Math.min(Number(all?.count ?? 0) - MOST_DELIVERIES, PORTION);
    const old =
      excess > 0
        ? await db.query<{ id: number }>(
            `SELECT id FROM event_callback_deliveries WHERE state <> 'waiting' ORDER BY id LIMIT ${excess}`,
          )
        : [];
    const ids = [...orphans, ...old].map(({ id }) => Number(id));
    if (ids.length === 0) return false;
    await db.write((tx) => tx.run('DELETE FROM event_callback_deliveries WHERE id IN (:ids)', { ids }));
    return true;
  }
}
