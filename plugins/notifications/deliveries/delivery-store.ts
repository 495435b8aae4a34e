// The delivery log: what is on its way is read again at the start, what is over stays for a while.
import { after, type Database, type Log, messageOf, storageFailure, type Tx } from '../../../kernel/index.js';
import type { PanelsApi } from '../../cluster/contract.js';
import type { Notification } from '../contract.js';
import type { Delivery, DeliveryState } from './delivery.js';

/** Deliveries were stored within a write: of another plugin, or of a panel that leaves them to another one. */
export const afterDeliveriesStored = after<{ readonly deliveries: readonly Delivery[] }>(
  'notifications/afterDeliveriesStored',
);

const COLUMNS = {
  id: 'integer',
  notification_id: 'text',
  channel: 'text',
  event: 'text',
  severity: 'text',
  at: 'integer',
  title: 'text',
  message: 'text',
  data: 'text',
  is_summary: 'integer',
  client_id: 'integer',
  client_email: 'text',
  messenger_id: 'integer',
  state: 'text',
  attempts: 'integer',
  queued_at: 'integer',
  attempted_at: 'integer',
  problem: 'text',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');
/** They change after the row was written. */
const CHANGING = ['state', 'attempts', 'queued_at', 'attempted_at', 'problem'] as const;
const ROWS = 250;
/** One id of each panel in a millisecond. */
const PANELS = 1_024;
/** While the database fails, further ones are in the queue only, and come into the log with their next attempt. */
const MOST_UNWRITTEN = 5_000;

interface StoredRow {
  readonly id: number;
  readonly notification_id: string;
  readonly channel: string;
  readonly event: string;
  readonly severity: Notification['severity'];
  readonly at: number;
  readonly title: string;
  readonly message: string;
  readonly data: string;
  readonly is_summary: number | boolean;
  readonly client_id: number;
  readonly client_email: string;
  readonly messenger_id: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly queued_at: number;
  readonly attempted_at: number;
  readonly problem: string;
}

export class DeliveryStore {
  readonly #db: Database;
  readonly #log: Log;
  readonly #unwritten = new Map<number, Delivery>();
  /** ids of those that the panel which leads sends */
  readonly #handed = new Set<number>();
  readonly #panels: PanelsApi | undefined;
  #writing: Promise<void> | undefined;
  #nextId = 1;
  /** Whether the last write failed: then what is not in memory is lost. */
  isFailing = false;

  constructor({ db, log, panels }: { db: Database; log: Log; panels?: PanelsApi | undefined }) {
    this.#db = db;
    this.#log = log;
    this.#panels = panels;
  }

  /** Whether this panel sends what is stored. */
  get sends(): boolean {
    return this.#panels?.leads ?? true;
  }

  async start(): Promise<void> {
    const [row] = await this.#db.query<{ last: number | null }>(
      'SELECT max(id) AS last FROM notification_deliveries',
    );
    this.#nextId = Number(row?.last ?? 0) + 1;
  }

  /** Greater than those of before; no other panel gives the same. */
  newId(): number {
    const { number = 0 } = this.#panels ?? {};
    // By the time: what others have given meanwhile is not known here.
    if (number > 0) {
      const moment = Math.max(Math.ceil(this.#nextId / PANELS), Date.now());
      this.#nextId = moment * PANELS + number;
    }
    return this.#nextId++;
  }

  /** Writes it for the panel that sends it. */
  hand(delivery: Delivery): void {
    if (delivery.state === 'waiting') this.#handed.add(delivery.id);
    this.save(delivery);
  }

  /** Writes its present state soon, together with others. */
  save(delivery: Delivery): void {
    if (this.isFailing && this.#unwritten.size >= MOST_UNWRITTEN && !this.#unwritten.has(delivery.id)) {
      const over = [...this.#unwritten.values()].find(({ state }) => state !== 'waiting');
      this.#unwritten.delete(over?.id ?? delivery.id);
    }
    this.#unwritten.set(delivery.id, delivery);
    if (!this.isFailing) void this.flush();
  }

  /** Writes what is not written yet. Never rejects: while the database fails, the next call retries. */
  flush(): Promise<void> {
    return (this.#writing ??= this.#flush().finally(() => {
      this.#writing = undefined;
    }));
  }

  async #flush(): Promise<void> {
    // Others of this moment come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#unwritten.size > 0) {
      const batch = [...this.#unwritten.values()].slice(0, ROWS);
      for (const { id } of batch) this.#unwritten.delete(id);
      try {
        await this.#db.write(async (tx) => {
          await this.insert(tx, batch);
          const handed = batch.filter(({ id }) => this.#handed.has(id));
          if (handed.length > 0) tx.after(afterDeliveriesStored, { deliveries: handed });
        });
        for (const { id } of batch) this.#handed.delete(id);
        this.isFailing = false;
      } catch (error) {
        // What changed meanwhile is newer.
        for (const delivery of batch) this.#unwritten.set(delivery.id, delivery);
        if (!storageFailure(error) && !this.isFailing)
          this.#log.error('the delivery log cannot be written; retrying', { reason: messageOf(error) });
        this.isFailing = true;
        return;
      }
    }
  }

  /** Writes them within a write of the caller's. */
  async insert(tx: Tx, deliveries: readonly Delivery[]): Promise<void> {
    const { rows, onConflict, incoming } = tx.sql;
    for (let from = 0; from < deliveries.length; from += ROWS) {
      const batch = deliveries.slice(from, from + ROWS).map(rowOf);
      await tx.run(
        `INSERT INTO notification_deliveries (${NAMES})
         SELECT ${Object.keys(COLUMNS)
           .map((name) => `j.${name}`)
           .join(', ')} FROM ${rows(COLUMNS)} AS j WHERE true
         ${onConflict('id', CHANGING.map((name) => `${name} = ${incoming(name)}`).join(', '))}`,
        { rows: JSON.stringify(batch) },
      );
    }
  }

  /** What waits for a channel, the most severe first. */
  async waiting(channel: string, limit: number): Promise<Delivery[]> {
    const rows = await this.#db.query<StoredRow>(
      `SELECT ${NAMES} FROM notification_deliveries WHERE state = 'waiting' AND channel = :channel
       ORDER BY CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, id LIMIT :limit`,
      { channel, limit },
    );
    return rows.map(deliveryOf);
  }

  async countWaiting(): Promise<Map<string, number>> {
    const rows = await this.#db.query<{ channel: string; amount: number }>(
      "SELECT channel, count(*) AS amount FROM notification_deliveries WHERE state = 'waiting' GROUP BY channel",
    );
    return new Map(rows.map(({ channel, amount }) => [channel, Number(amount)]));
  }

  async byId(id: number): Promise<Delivery | undefined> {
    const [row] = await this.#db.query<StoredRow>(
      `SELECT ${NAMES} FROM notification_deliveries WHERE id = :id`,
      { id },
    );
    return row && deliveryOf(row);
  }
}

function rowOf({
  notification: { id, event, severity, at, title, text, data, isSummary },
  client,
  ...rest
}: Delivery) {
  return [
    ...[rest.id, id, rest.channel, event, severity, at, title, text, JSON.stringify(data), isSummary ? 1 : 0],
    ...[client?.id ?? 0, client?.email ?? '', client?.messengerId ?? 0],
    ...[rest.state, rest.attempts, rest.queuedAt, rest.attemptedAt, rest.problem],
  ];
}

function deliveryOf(row: StoredRow): Delivery {
  return {
    id: Number(row.id),
    channel: row.channel,
    notification: {
      id: row.notification_id,
      event: row.event,
      severity: row.severity,
      at: Number(row.at),
      title: row.title,
      text: row.message,
      data: JSON.parse(row.data) as Record<string, unknown>,
      ...(row.is_summary && { isSummary: true }),
    },
    client:
      Number(row.client_id) > 0
        ? { id: Number(row.client_id), email: row.client_email, messengerId: Number(row.messenger_id) }
        : undefined,
    state: row.state,
    attempts: Number(row.attempts),
    queuedAt: Number(row.queued_at),
    attemptedAt: Number(row.attempted_at),
    nextAt: 0,
    problem: row.problem,
  };
}
