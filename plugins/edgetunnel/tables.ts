import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import type { SealedColumn } from '../secrets/contract.js';

/** new: registered by a rotation that is under way; retired: to be deleted at the service. */
export type DeviceState = 'new' | 'retired';

export const tables = {
  /** Devices beside the one in force, which is a setting. */
  devices: table('edgetunnel_devices', {
    id: column.key<string>(),
    state: column.text<DeviceState>(),
    /** sealed: JSON of the account */
    account: column.text(),
    /** failed calls to delete it */
    failures: column.integer(),
    /** Unix ms */
    since: column.integer(),
  }),
} as const;
export type DeviceTables = TableModels<typeof tables>;

export const sealedAccount: SealedColumn = { table: 'edgetunnel_devices', key: 'id', column: 'account' };

export const migrations: readonly Migration[] = [
  {
    name: '0001-edgetunnel-devices',
    up: ({ integer, text }) => [
      `CREATE TABLE edgetunnel_devices (
        id VARCHAR(64) PRIMARY KEY, state VARCHAR(16) NOT NULL, account ${text} NOT NULL,
        failures ${integer} NOT NULL, since ${integer} NOT NULL)`,
    ],
  },
];
