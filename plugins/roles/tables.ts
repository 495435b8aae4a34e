import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

export const tables = {
  /** `permissions` as `inbounds:read`; `createdAt` in Unix ms. */
  roles: table('roles', {
    id: column.id(),
    name: column.text(),
    permissions: column.json<readonly string[]>(),
    createdAt: column.integer(),
  }),
} as const;
export type RoleTables = TableModels<typeof tables>;

export const migrations: readonly Migration[] = [
  {
    name: '0001-roles',
    up: ({ id, integer, json }) => [
      `CREATE TABLE roles (id ${id}, name VARCHAR(64) NOT NULL UNIQUE, permissions ${json} NOT NULL, created_at ${integer} NOT NULL)`,
    ],
  },
];
