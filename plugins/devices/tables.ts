import { column, type Migration, table } from '../../kernel/index.js';

export const tables = {
  /** Devices by client and SHA-256 of their id; the id itself is not stored. They are deleted with their client. */
  devices: table('client_devices', {
    id: column.id(),
    clientId: column.integer(),
    hash: column.text(),
    /** Unix ms */
    firstSeen: column.integer(),
    lastSeen: column.integer(),
    userAgent: column.text(),
    deviceOs: column.text(),
    osVersion: column.text(),
    deviceModel: column.text(),
  }),
} as const;

export const migrations: readonly Migration[] = [
  {
    name: '0001-devices',
    up: ({ id, integer, text }) => [
      `CREATE TABLE client_devices (
        id ${id}, client_id ${integer} NOT NULL, hash VARCHAR(64) NOT NULL, first_seen ${integer} NOT NULL, last_seen ${integer} NOT NULL,
        user_agent ${text} NOT NULL, device_os ${text} NOT NULL, os_version ${text} NOT NULL, device_model ${text} NOT NULL,
        UNIQUE (client_id, hash), FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
    ],
  },
];
