import { column, type Migration, type Row, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  fallbacks: table('inbound_fallbacks', {
    id: column.id(),
    masterId: column.integer(),
    /** null where `dest` is no inbound of this panel */
    childId: column.optionalInteger(),
    name: column.text(),
    alpn: column.text(),
    path: column.text(),
    dest: column.text(),
    xver: column.integer(),
    sortOrder: column.integer(),
  }),
} as const;
export type FallbackTables = TableModels<typeof tables>;
export type FallbackRow = Row<typeof tables.fallbacks>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-fallbacks',
    // A fallback goes with its master and with its child.
    up: ({ id, integer }) => [
      `CREATE TABLE inbound_fallbacks (
        id ${id}, master_id ${integer} NOT NULL, child_id ${integer},
        name VARCHAR(255) NOT NULL, alpn VARCHAR(64) NOT NULL, path VARCHAR(1024) NOT NULL, dest VARCHAR(255) NOT NULL,
        xver ${integer} NOT NULL, sort_order ${integer} NOT NULL,
        FOREIGN KEY (master_id) REFERENCES inbounds (id) ON DELETE CASCADE,
        FOREIGN KEY (child_id) REFERENCES inbounds (id) ON DELETE CASCADE)`,
      'CREATE INDEX inbound_fallbacks_master ON inbound_fallbacks (master_id)',
      'CREATE INDEX inbound_fallbacks_child ON inbound_fallbacks (child_id)',
    ],
  },
];
