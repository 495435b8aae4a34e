// Sends the events of one endpoint: one attempt at a time, the oldest due event first.
import { type Clock, type Database, type Log, messageOf, storageFailure } from '../../kernel/index.js';
import type { Attempts, Message, Outcome } from './attempt.js';
import { afterFailure, isDue, LATEST_MS } from './back-off.js';
import type { EndpointStore } from './endpoint-store.js';
import type { EventTypes } from './event-types.js';
import type { Outbox } from './outbox.js';
import type { Position, Progress } from './progress.js';
import type { EndpointRow } from './tables.js';

/** At most this many bodies of 64 KiB are in memory, for each endpoint. */
const PORTION = 20;

interface Due extends Message {
  readonly id: number;
  readonly attempts: number;
  readonly firstAt: number;
}
export interface WorkerNeeds {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: EndpointStore;
  readonly eventTypes: EventTypes;
  readonly outbox: Outbox;
  readonly progress: Progress;
  readonly attempts: Attempts;
  /** Called for an endpoint that is to be disabled, with the reason. */
  readonly giveUp: (endpoint: EndpointRow, reason: string) => Promise<void>;
  readonly failingDays: () => number;
}
const DAY_MS = 86_400_000;
const GONE = 410;
/** Days of failures with fewer attempts were days without a panel, or the clock has jumped. */
const LEAST_FAILURES = 4;

const isRetryDue = ({ nextRetryAt }: Position, now: number): boolean =>
  Number.isFinite(nextRetryAt) && isDue(nextRetryAt, now);

export class EndpointWorker {
  readonly #id: string;
  readonly #needs: WorkerNeeds;
  readonly #stop: AbortSignal;
  /** Ends the attempt under way when the endpoint changes: it may be disabled, or elsewhere. */
  #attempt = new AbortController();
  #running: Promise<void> | undefined;
  #isWoken = false;
  #isOver = false;
  /** The database could not be read: what waits is looked for again. */
  #isStuck = false;

  constructor(id: string, needs: WorkerNeeds, stop: AbortSignal) {
    this.#id = id;
    this.#needs = needs;
    this.#stop = stop;
  }

  /** Looks for due events, now or after the attempt under way. */
  wake(): void {
    this.#isWoken = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Ends the attempt under way; its event is sent again. */
  interrupt(): void {
    this.#attempt.abort(new Error('the endpoint was changed'));
    this.#attempt = new AbortController();
    this.wake();
  }

  /** Resolves when no attempt is under way. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Begins no further attempt; resolves when the one under way is over. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Whether a retry is due; called every second. */
  isDue(now: number): boolean {
    if (this.#isStuck) return true;
    const position = this.#needs.progress.known(this.#id);
    return (
      position !== undefined &&
      isDue(position.pausedUntil, now) &&
      (position.pausedUntil > 0 || isRetryDue(position, now))
    );
  }

  async #run(): Promise<void> {
    while (this.#isWoken && !this.#isOver && !this.#stop.aborted) {
      this.#isWoken = false;
      try {
        const isMore = await this.#portion();
        if (isMore) this.#isWoken = true;
        this.#isStuck = false;
      } catch (error) {
        this.#fail(error);
        return;
      }
    }
  }

  /** Tried again a second later. */
  #fail(error: unknown): void {
    const isKnown = this.#isStuck || storageFailure(error) !== undefined;
    this.#isStuck = true;
    const position = this.#needs.progress.known(this.#id);
    if (position) position.nextRetryAt = 0;
    if (!isKnown && !this.#stop.aborted)
      this.#needs.log.error('the events of an endpoint cannot be sent; trying again', {
        endpoint: this.#id,
        reason: messageOf(error),
      });
  }

  /** Resolves with whether there may be more to do now. */
  async #portion(): Promise<boolean> {
    const { store, progress, clock } = this.#needs;
    const position = await progress.of(this.#id);
    if (!position || !store.get(this.#id)?.enable || !isDue(position.pausedUntil, clock.now())) return false;
    const due = await this.#due(position);
    for (const message of due) {
      const endpoint = store.get(this.#id);
      if (!endpoint?.enable || this.#isOver || this.#stop.aborted) return false;
      const went = await this.#send(endpoint, message, position);
      if (went !== 'delivered') return went === 'interrupted';
    }
    return due.length > 0;
  }

  async #due(position: Position): Promise<readonly Due[]> {
    const { db, progress, clock, eventTypes, outbox, store } = this.#needs;
    if (isRetryDue(position, clock.now())) {
      // What is not written yet would be found again.
      await progress.flush();
      if (progress.hasUnwritten(this.#id))
        throw new Error('what came of its last attempts cannot be written');
      const retries = await this.#retries();
      if (retries.length > 0) return retries;
      // First: what is queued during the query makes it smaller.
      position.nextRetryAt = Number.POSITIVE_INFINITY;
      const [next] = await db.query<{ at: number | null }>(
        `SELECT MIN(due_at) AS at FROM event_callback_deliveries WHERE endpoint_id = :id AND state = 'waiting'`,
        { id: this.#id },
      );
      const at = next?.at ?? null;
      if (at !== null) position.nextRetryAt = Math.min(position.nextRetryAt, Number(at));
    }
    const newest = await outbox.newest();
    if (position.position >= newest) return [];
    const types = eventTypes.chosen(store.get(this.#id)?.events ?? []);
    const rows =
      types?.length === 0
        ? []
        : await db.query<{ id: number; uid: string; body: string }>(
            `SELECT id, uid, body FROM event_callback_messages WHERE id > :position ${types ? 'AND type IN (:types)' : ''}
             ORDER BY id LIMIT ${PORTION}`,
            { position: position.position, types },
          );
    // Nothing up to the newest is wanted: the next look begins behind it.
    if (rows.length === 0) {
      position.position = newest;
      progress.moved(this.#id);
    }
    return rows.map(({ id, uid, body }) => ({ id: Number(id), uid, body, attempts: 0, firstAt: 0 }));
  }

  async #retries(): Promise<readonly Due[]> {
    const { db, clock } = this.#needs;
    const rows = await db.query<Due>(
      `SELECT m.id AS id, m.uid AS uid, m.body AS body, d.attempts AS attempts, d.first_at AS "firstAt"
       FROM event_callback_deliveries d JOIN event_callback_messages m ON m.id = d.message_id
       WHERE d.endpoint_id = :id AND d.state = 'waiting' AND (d.due_at <= :now OR d.due_at > :latest) ORDER BY m.id LIMIT ${PORTION}`,
      { id: this.#id, now: clock.now(), latest: clock.now() + LATEST_MS },
    );
    return rows.map((row) => ({
      ...row,
      id: Number(row.id),
      attempts: Number(row.attempts),
      firstAt: Number(row.firstAt),
    }));
  }

  async #send(
    endpoint: EndpointRow,
    message: Due,
    position: Position,
  ): Promise<'delivered' | 'failed' | 'interrupted'> {
    const { attempts, clock } = this.#needs;
    const attempt = this.#attempt.signal;
    let outcome: Outcome;
    try {
      outcome = await attempts.make(endpoint, message, AbortSignal.any([this.#stop, attempt]));
    } catch {
      return this.#stop.aborted ? 'failed' : 'interrupted';
    }
    const now = clock.now();
    await this.#note(message, outcome, position, now);
    if (outcome.ok) return 'delivered';
    await this.#judge(endpoint, outcome, position, now);
    return 'failed';
  }

  async #note(message: Due, outcome: Outcome, position: Position, now: number): Promise<void> {
    const { progress } = this.#needs;
    const { ok, status, error, ms, askedMs } = outcome;
    const attempts = message.attempts + 1;
    const firstAt = message.attempts === 0 ? now : message.firstAt;
    position.position = Math.max(position.position, message.id);
    let dueAt: number | undefined = 0;
    if (ok) {
      Object.assign(position, { failures: 0, failingSince: 0, pausedUntil: 0, lastError: '' });
      position.lastDeliveredAt = now;
    } else {
      position.failures++;
      position.failingSince ||= now;
      position.lastError = error;
      const { failures, lastDeliveredAt } = position;
      const next = afterFailure({ now, attempts, firstAt, failures, lastDeliveredAt, status, askedMs });
      position.pausedUntil = next.pausedUntil;
      dueAt = next.dueAt;
      if (dueAt !== undefined) position.nextRetryAt = Math.min(position.nextRetryAt, dueAt);
    }
    const state = ok ? 'delivered' : dueAt === undefined ? 'failed' : 'waiting';
    await progress.add(
      {
        ...{ endpointId: this.#id, messageId: message.id, state, attempts, dueAt: dueAt ?? 0 },
        ...{ firstAt, lastAt: now, status, error, ms },
      },
      this.#stop,
    );
  }

  async #judge(endpoint: EndpointRow, outcome: Outcome, position: Position, now: number): Promise<void> {
    const { giveUp, failingDays } = this.#needs;
    const days = failingDays();
    if (outcome.status === GONE) await giveUp(endpoint, 'the endpoint answered 410: it is gone for good');
    else if (position.failures >= LEAST_FAILURES && now - position.failingSince > days * DAY_MS)
      await giveUp(endpoint, `every attempt of ${days} days failed, the last because ${outcome.error}`);
  }
}
