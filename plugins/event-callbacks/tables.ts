import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

/** `waiting`: for its next attempt; `failed`: given up */
export type DeliveryState = 'waiting' | 'delivered' | 'failed';

export const tables = {
  endpoints: table('event_callback_endpoints', {
    /** random: sealed text is bound to it */
    id: column.key<string>(),
    url: column.text(),
    description: column.text(),
    events: column.json<readonly string[]>(),
    enable: column.bool(),
    disabledReason: column.text(),
    allowPrivate: column.bool(),
    secretId: column.text(),
    secret: column.text(),
    /** signs too until then, after a rotation; '' without one */
    previousSecret: column.text(),
    previousUntil: column.integer(),
    createdAt: column.integer(),
    updatedAt: column.integer(),
  }),
  /** How far each endpoint has come; written often, and apart from what admins set. */
  progress: table('event_callback_progress', {
    endpointId: column.key<string>(),
    /** all messages up to this id were attempted, or are not wanted */
    position: column.integer(),
    failures: column.integer(),
    failingSince: column.integer(),
    pausedUntil: column.integer(),
    lastDeliveredAt: column.integer(),
    lastError: column.text(),
    dropped: column.integer(),
  }),
  /** The outbox: each event once, whatever the number of endpoints. */
  messages: table('event_callback_messages', {
    id: column.id(),
    uid: column.text(),
    type: column.text(),
    at: column.integer(),
    body: column.text(),
  }),
  /** One for each message and endpoint from the first attempt on. */
  deliveries: table('event_callback_deliveries', {
    id: column.id(),
    endpointId: column.text(),
    messageId: column.integer(),
    state: column.text<DeliveryState>(),
    attempts: column.integer(),
    dueAt: column.integer(),
    firstAt: column.integer(),
    lastAt: column.integer(),
    status: column.integer(),
    error: column.text(),
    ms: column.integer(),
  }),
} as const;
export type CallbackTables = TableModels<typeof tables>;
export type EndpointRow = Row<typeof tables.endpoints>;

export const sealedSecret: SealedColumn = { table: 'event_callback_endpoints', key: 'id', column: 'secret' };
export const sealedPrevious: SealedColumn = {
  table: 'event_callback_endpoints',
  key: 'id',
  column: 'previous_secret',
};

export const migrations: readonly Migration[] = [
  {
    name: '0001-event-callbacks',
    up: ({ id, integer, bool, text, json }) => [
      `CREATE TABLE event_callback_endpoints (
        id VARCHAR(32) NOT NULL PRIMARY KEY, url ${text} NOT NULL, description VARCHAR(255) NOT NULL, events ${json} NOT NULL,
        enable ${bool} NOT NULL, disabled_reason VARCHAR(255) NOT NULL, allow_private ${bool} NOT NULL,
        secret_id VARCHAR(32) NOT NULL, secret ${text} NOT NULL, previous_secret ${text} NOT NULL, previous_until ${integer} NOT NULL,
        created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL)`,
      `CREATE TABLE event_callback_progress (
        endpoint_id VARCHAR(32) NOT NULL PRIMARY KEY, position ${integer} NOT NULL, failures ${integer} NOT NULL,
        failing_since ${integer} NOT NULL, paused_until ${integer} NOT NULL, last_delivered_at ${integer} NOT NULL,
        last_error VARCHAR(512) NOT NULL, dropped ${integer} NOT NULL)`,
      `CREATE TABLE event_callback_messages (
        id ${id}, uid VARCHAR(64) NOT NULL, type VARCHAR(128) NOT NULL, at ${integer} NOT NULL, body ${text} NOT NULL)`,
      'CREATE INDEX event_callback_messages_at ON event_callback_messages (at)',
      `CREATE TABLE event_callback_deliveries (
        id ${id}, endpoint_id VARCHAR(32) NOT NULL, message_id ${integer} NOT NULL, state VARCHAR(16) NOT NULL,
        attempts ${integer} NOT NULL, due_at ${integer} NOT NULL, first_at ${integer} NOT NULL, last_at ${integer} NOT NULL,
        status ${integer} NOT NULL, error VARCHAR(512) NOT NULL, ms ${integer} NOT NULL,
        FOREIGN KEY (message_id) REFERENCES event_callback_messages (id) ON DELETE CASCADE)`,
      'CREATE UNIQUE INDEX event_callback_deliveries_once ON event_callback_deliveries (endpoint_id, message_id)',
      'CREATE INDEX event_callback_deliveries_due ON event_callback_deliveries (endpoint_id, state, due_at)',
      'CREATE INDEX event_callback_deliveries_message ON event_callback_deliveries (message_id)',
    ],
  },
];
