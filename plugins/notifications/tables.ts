import { column, type Migration, table } from '../../kernel/index.js';
import type { DeliveryState } from './deliveries/delivery.js';

export const tables = {
  /** One notification over one channel. */
  deliveries: table('notification_deliveries', {
    /** given by the panel, in the order of the notifications */
    id: column.key<number>('integer'),
    /** the same over all channels */
    notificationId: column.text(),
    channel: column.text(),
    event: column.text(),
    severity: column.text(),
    /** Unix ms of what happened */
    at: column.integer(),
    title: column.text(),
    message: column.text(),
    data: column.text(),
    isSummary: column.bool(),
    /** 0: for the admins */
    clientId: column.integer(),
    clientEmail: column.text(),
    messengerId: column.integer(),
    state: column.text<DeliveryState>(),
    attempts: column.integer(),
    /** Unix ms since when it waits; a redelivery begins again */
    queuedAt: column.integer(),
    /** Unix ms of the last attempt; 0 before the first one */
    attemptedAt: column.integer(),
    problem: column.text(),
  }),
} as const;

export const migrations: readonly Migration[] = [
  {
    name: '0001-deliveries',
    up: ({ integer, bool, text }) => [
      `CREATE TABLE notification_deliveries (
        id ${integer} NOT NULL PRIMARY KEY,
        notification_id VARCHAR(36) NOT NULL,
        channel VARCHAR(64) NOT NULL,
        event VARCHAR(64) NOT NULL,
        severity VARCHAR(8) NOT NULL,
        at ${integer} NOT NULL,
        title VARCHAR(255) NOT NULL,
        message ${text} NOT NULL,
        data ${text} NOT NULL,
        is_summary ${bool} NOT NULL,
        client_id ${integer} NOT NULL,
        client_email VARCHAR(255) NOT NULL,
        messenger_id ${integer} NOT NULL,
        state VARCHAR(9) NOT NULL,
        attempts ${integer} NOT NULL,
        queued_at ${integer} NOT NULL,
        attempted_at ${integer} NOT NULL,
        problem VARCHAR(512) NOT NULL)`,
      'CREATE INDEX notification_deliveries_waiting ON notification_deliveries (state, channel, id)',
      'CREATE INDEX notification_deliveries_event ON notification_deliveries (event, id)',
      'CREATE INDEX notification_deliveries_age ON notification_deliveries (at)',
    ],
  },
];
