import { column, type Migration, table, type TableModels } from '../../kernel/index.js';
import { balancerRecord } from './fields.js';

export const tables = {
  /** `createdAt` and `updatedAt` in Unix ms. */
  balancers: table('sub_balancers', { id: column.id(), ...balancerRecord.columns }),
} as const;
export type BalancerTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-sub-balancers',
    up: ({ id, integer, bool, json }) => [
      `CREATE TABLE sub_balancers (
        id ${id}, remark VARCHAR(256) NOT NULL, strategy VARCHAR(16) NOT NULL, inbound_ids ${json} NOT NULL,
        member_weights ${json} NOT NULL, sort_order ${integer} NOT NULL, enabled ${bool} NOT NULL,
        created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL)`,
    ],
  },
];
