import type { Migration } from '../../kernel/index.js';

export const migrations: readonly Migration[] = [
  {
    name: '0001-baselines',
    up: ({ integer }) => [
      // What each of the core's counters said when it was last written down. `epoch` names the core process: a counter of
      // another process began at zero.
      `CREATE TABLE traffic_baselines (
        client_id ${integer} NOT NULL, inbound_id ${integer} NOT NULL, epoch VARCHAR(128) NOT NULL, up ${integer} NOT NULL, down ${integer} NOT NULL,
        PRIMARY KEY (client_id, inbound_id), FOREIGN KEY (client_id) REFERENCES clients (id) ON DELETE CASCADE)`,
    ],
  },
];
