// The delivery log for admins: what was sent, what was not and why, and sending it again.
import {
  type Clock,
  type Database,
  type LiveSettings,
  type Log,
  type Principal,
  SerialQueue,
} from '../../../kernel/index.js';
import type { AuditTrailApi } from '../../audit/contract.js';
import type { Severity } from '../contract.js';
import { errors } from '../errors.js';
import type { Notifier } from '../notifier.js';
import type { notificationSettings } from '../settings.js';
import type { DeliveryState } from './delivery.js';
import { afterDeliveriesStored, type DeliveryStore } from './delivery-store.js';

const DAY_MS = 86_400_000;
/** Entries that one write removes: MariaDB reads the whole table for a list of 1,000 or more. */
const SLICE = 500;

export interface ListQuery {
  readonly channel?: string | undefined;
  readonly event?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly severity?: Severity | undefined;
  readonly client?: string | undefined;
  /** entries before this one */
  readonly before?: number | undefined;
  readonly limit: number;
}
interface ListedRow {
  readonly id: number;
  readonly notificationId: string;
  readonly channel: string;
  readonly event: string;
  readonly severity: Severity;
  readonly at: number;
  readonly title: string;
  readonly text: string;
  readonly isSummary: boolean;
  readonly client: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly attemptedAt: number;
  readonly problem: string;
}
const EQUAL = {
  channel: 'channel',
  event: 'event',
  state: 'state',
  severity: 'severity',
  client: 'client_email',
};

export class DeliveryLog {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #settings: LiveSettings<typeof notificationSettings>;
  readonly #store: DeliveryStore;
  readonly #notifier: Notifier;
  readonly #audit: AuditTrailApi | undefined;
  /** One redelivery at a time: of two calls at once, the second one finds that it waits. */
  readonly #redeliveries = new SerialQueue();

  constructor(needs: {
    db: Database;
    clock: Clock;
    log: Log;
    settings: LiveSettings<typeof notificationSettings>;
    store: DeliveryStore;
    notifier: Notifier;
    audit: AuditTrailApi | undefined;
  }) {
    this.#db = needs.db;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#settings = needs.settings;
    this.#store = needs.store;
    this.#notifier = needs.notifier;
    this.#audit = needs.audit;
  }

  /** Newest first. What was not written yet is missing for a moment. */
  async list(query: ListQuery): Promise<ListedRow[]> {
    await this.#store.flush();
    const where = Object.entries(EQUAL).flatMap(([name, column]) =>
      query[name as keyof typeof EQUAL] === undefined ? [] : [`${column} = :${name}`],
    );
    if (query.before !== undefined) where.push('id < :before');
    const rows = await this.#db.query<ListedRow>(
      `SELECT id, notification_id AS notificationId, channel, event, severity, at, title, message AS text,
         is_summary AS isSummary, client_email AS client, state, attempts, attempted_at AS attemptedAt, problem
       FROM notification_deliveries ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
       ORDER BY id DESC LIMIT :limit`,
      { ...query },
    );
    return rows.map((row) => ({
      ...row,
      id: Number(row.id),
      at: Number(row.at),
      attempts: Number(row.attempts),
      attemptedAt: Number(row.attemptedAt),
      isSummary: Boolean(row.isSummary),
    }));
  }

  /** Queues a delivery that is over once more: a failed one, or one whose receiver lost it. */
  redeliver(id: number, who: Principal): Promise<void> {
    return this.#redeliveries.run(() => this.#redeliver(id, who));
  }

  async #redeliver(id: number, who: Principal): Promise<void> {
    await this.#store.flush();
    const queue = this.#notifier.queues.find((one) => one.get(id));
    const delivery = queue ? undefined : await this.#store.byId(id);
    if (queue || delivery?.state === 'waiting') throw errors.STILL_WAITING();
    if (!delivery) throw errors.UNKNOWN_DELIVERY();
    const its = this.#notifier.queues.find(({ caller }) => caller.name === delivery.channel);
    if (!its?.caller.isOn()) throw errors.NO_CHANNEL();
    if (its.isFullFor(delivery)) throw errors.QUEUE_FULL();
    const { state, attempts } = delivery;
    Object.assign(delivery, { state: 'waiting', attempts: 0, problem: '', queuedAt: this.#clock.now() });
    await this.#db.write(async (tx) => {
      await this.#store.insert(tx, [delivery]);
      await this.#audit?.record(tx, 'notification', who, [
        {
          kind: 'done',
          name: 'redeliver',
          id: String(id),
          before: { state, attempts },
          after: { state: 'waiting', attempts: 0 },
        },
      ]);
      // Of several panels, one sends.
      if (!this.#store.sends) tx.after(afterDeliveriesStored, { deliveries: [delivery] });
    });
    its.push(delivery, true);
  }

  /** Removes old entries, and those over the number that is kept. What waits stays. */
  async prune(signal: AbortSignal): Promise<void> {
    const { notificationLogDays, notificationLogMost } = this.#settings.read();
    const oldest = this.#clock.now() - notificationLogDays * DAY_MS;
    const [over] = await this.#db.query<{ id: number }>(
      'SELECT id FROM notification_deliveries ORDER BY id DESC LIMIT 1 OFFSET :most',
      { most: notificationLogMost },
    );
    let removed = 0;
    while (!signal.aborted) {
      const rows = await this.#db.query<{ id: number }>(
        `SELECT id FROM notification_deliveries WHERE state <> 'waiting' AND (id <= :last OR at < :oldest) LIMIT ${SLICE}`,
        { last: Number(over?.id ?? 0), oldest },
      );
      if (rows.length === 0) break;
      await this.#db.write((tx) =>
        tx.run('DELETE FROM notification_deliveries WHERE id IN (:ids)', { ids: rows.map(({ id }) => id) }),
      );
      removed += rows.length;
    }
    await this.#giveUpOrphans();
    if (removed > 0) this.#log.info('old entries of the delivery log were removed', { removed });
  }

  /** Deliveries of channels that are not there any more, after a day. */
  async #giveUpOrphans(): Promise<void> {
    const channels = this.#notifier.queues.map(({ caller }) => caller.name);
    await this.#db.write((tx) =>
      tx.run(
        `UPDATE notification_deliveries SET state = 'dropped', problem = 'the channel is not there any more'
         WHERE state = 'waiting' AND queued_at < :old AND channel NOT IN (:channels)`,
        { old: this.#clock.now() - DAY_MS, channels: ['', ...channels] },
      ),
    );
  }
}
