// How far endpoints have come, in memory; what came of attempts is written in batches. A crash loses the last batch, and
// its events are sent again.
import type { Database, Log } from '../../kernel/index.js';
import { messageOf, storageFailure } from '../../kernel/index.js';
import type { DeliveryState } from './tables.js';

const FLUSH_MS = 100;
/** While more are not written, no attempt is made: a crash would repeat them all. */
const MOST_UNWRITTEN = 500;
const FAILED_WAIT_MS = 5_000;

export interface Position {
  /** all messages up to this id were attempted, or are not wanted */
  position: number;
  failures: number;
  failingSince: number;
  pausedUntil: number;
  lastDeliveredAt: number;
  lastError: string;
  dropped: number;
  /** Unix ms of the first due delivery that waits for another attempt; Infinity without one */
  nextRetryAt: number;
}
/** What came of one attempt. */
export interface Result {
  readonly endpointId: string;
  readonly messageId: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAt: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly status: number;
  readonly error: string;
  readonly ms: number;
}

const RESULT = {
  endpointId: 'text',
  messageId: 'integer',
  state: 'text',
  attempts: 'integer',
  dueAt: 'integer',
  firstAt: 'integer',
  lastAt: 'integer',
  status: 'integer',
  error: 'text',
  ms: 'integer',
} as const;
const POSITION = {
  endpointId: 'text',
  position: 'integer',
  failures: 'integer',
  failingSince: 'integer',
  pausedUntil: 'integer',
  lastDeliveredAt: 'integer',
  lastError: 'text',
  dropped: 'integer',
} as const;
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const valuesOf = <T extends object>(columns: object, row: T): unknown[] =>
  Object.keys(columns).map((name) => row[name as keyof T]);

export class Progress {
  readonly #db: Database;
  readonly #log: Log;
  readonly #positions = new Map<string, Position>();
  readonly #changed = new Set<string>();
  #results: Result[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** one that has not begun, and writes what is noted until then */
  #next: Promise<void> | undefined;
  #isClosed = false;

  constructor({ db, log }: { db: Database; log: Log }) {
    this.#db = db;
    this.#log = log;
  }

  /** Reads where an endpoint stands; undefined when it is gone. */
  async of(endpointId: string): Promise<Position | undefined> {
    const known = this.#positions.get(endpointId);
    if (known) return known;
    const [row] = await this.#db.query<Record<string, number | string>>(
      `SELECT ${Object.keys(POSITION)
        .map((name) => `p.${snake(name)} AS "${name}"`)
        .join(', ')},
        (SELECT MIN(d.due_at) FROM event_callback_deliveries d WHERE d.endpoint_id = p.endpoint_id AND d.state = 'waiting') AS "nextRetryAt"
       FROM event_callback_progress p WHERE p.endpoint_id = :endpointId`,
      { endpointId },
    );
    if (!row) return undefined;
    const number = (name: string): number => Number(row[name] ?? 0);
    const read: Position = this.#positions.get(endpointId) ?? {
      position: number('position'),
      failures: number('failures'),
      failingSince: number('failingSince'),
      pausedUntil: number('pausedUntil'),
      lastDeliveredAt: number('lastDeliveredAt'),
      lastError: String(row['lastError'] ?? ''),
      dropped: number('dropped'),
      nextRetryAt: row['nextRetryAt'] === null ? Number.POSITIVE_INFINITY : number('nextRetryAt'),
    };
    this.#positions.set(endpointId, read);
    return read;
  }

  /** What is known in memory. */
  known(endpointId: string): Position | undefined {
    return this.#positions.get(endpointId);
  }

  forget(endpointId: string): void {
    this.#positions.delete(endpointId);
    this.#changed.delete(endpointId);
    this.#results = this.#results.filter((result) => result.endpointId !== endpointId);
  }

  /** Notes a result, to be written with the next batch. Resolves when the next attempt may be made. */
  async add(result: Result, signal: AbortSignal): Promise<void> {
    this.#results.push(result);
    this.moved(result.endpointId);
    while (this.#results.length >= MOST_UNWRITTEN && !signal.aborted) await this.flush();
  }

  /** Whether results of an endpoint are in memory only, so that the database does not tell what waits. */
  hasUnwritten(endpointId: string): boolean {
    return this.#results.some((result) => result.endpointId === endpointId);
  }

  /** The position of an endpoint changed. */
  moved(endpointId: string): void {
    this.#changed.add(endpointId);
    this.#flushSoon();
  }

  #flushSoon(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  /** Writes what is not written. Never rejects: what cannot be written stays for the next time. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Callers share a write: each one that fails has a pause, and they must not add up.
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      return this.#flush();
    });
    this.#writing = this.#next;
    return this.#next;
  }

  /** Writes a last time; nothing is tried again afterwards. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }

  async #flush(): Promise<void> {
    // All of them: a position that is written before the result of its event would lose that event in a crash.
    const results = [...this.#results];
    const ids = [...this.#changed].filter((id) => this.#positions.has(id));
    if (results.length + ids.length === 0) return;
    const positions = ids.map((id) => ({ endpointId: id, ...this.#positions.get(id) }));
    this.#changed.clear();
    try {
      await this.#write(results, positions);
      // By identity: a deleted endpoint takes its own out meanwhile.
      const written = new Set(results);
      this.#results = this.#results.filter((result) => !written.has(result));
    } catch (error) {
      for (const id of ids) this.#changed.add(id);
      if (!storageFailure(error))
        this.#log.error('could not store what came of deliveries; trying again', {
          reason: messageOf(error),
        });
      if (this.#isClosed) return;
      await new Promise((resolve) => setTimeout(resolve, FAILED_WAIT_MS).unref());
      this.#flushSoon();
    }
  }

  #write(results: readonly Result[], positions: readonly object[]): Promise<void> {
    return this.#db.write(async (tx) => {
      const { sql } = tx;
      if (results.length > 0) {
        const names = Object.keys(RESULT);
        // The joins skip what was deleted meanwhile.
        await tx.run(
          `INSERT INTO event_callback_deliveries (${names.map(snake).join(', ')})
           SELECT ${names.map((name) => `j.${name}`).join(', ')} FROM ${sql.rows(RESULT)} AS j
           JOIN event_callback_messages m ON m.id = j.messageId
           JOIN event_callback_endpoints e ON e.id = j.endpointId WHERE 1 = 1
           ${sql.onConflict(
             'endpoint_id, message_id',
             ['state', 'attempts', 'due_at', 'first_at', 'last_at', 'status', 'error', 'ms']
               .map((name) => `${name} = ${sql.incoming(name)}`)
               .join(', '),
           )}`,
          { rows: JSON.stringify(results.map((result) => valuesOf(RESULT, result))) },
        );
      }
      if (positions.length === 0) return;
      const names = Object.keys(POSITION);
      await tx.run(
        `INSERT INTO event_callback_progress (${names.map(snake).join(', ')})
         SELECT ${names.map((name) => `j.${name}`).join(', ')} FROM ${sql.rows(POSITION)} AS j
         JOIN event_callback_endpoints e ON e.id = j.endpointId WHERE 1 = 1
         ${sql.onConflict(
           'endpoint_id',
           names
             .slice(1)
             .map((name) => `${snake(name)} = ${sql.incoming(snake(name))}`)
             .join(', '),
         )}`,
        { rows: JSON.stringify(positions.map((position) => valuesOf(POSITION, position))) },
      );
    });
  }
}
