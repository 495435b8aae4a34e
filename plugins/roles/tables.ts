import { column, type Migration, table, type TableModels } from '../../kernel/index.js';

/** Blank: what its permissions say. */
export const ROLE_KINDS = ['', 'reseller', 'groups'] as const;
export type RoleKind = (typeof ROLE_KINDS)[number];
/** What admins may do with the clients of the groups that their role names; to write includes to read. */
export const LEVELS = ['read', 'write'] as const;
export type Level = (typeof LEVELS)[number];

export const tables = {
  /** `permissions` as `inbounds:read`, none where there is a `kind`; `clientGroups` and `level` of the kind `groups` only; `createdAt` in Unix ms. */
  roles: table('roles', {
    id: column.id(),
    name: column.text(),
    kind: column.text<RoleKind>(),
    permissions: column.json<readonly string[]>(),
    createdAt: column.integer(),
    clientGroups: column.optionalJson<readonly string[]>(),
    level: column.text<Level | ''>(),
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
  { name: '0002-kinds', up: () => [`ALTER TABLE roles ADD COLUMN kind VARCHAR(16) NOT NULL DEFAULT ''`] },
  {
    name: '0003-groups',
    up: ({ json }) => [
      `ALTER TABLE roles ADD COLUMN client_groups ${json}`,
      `ALTER TABLE roles ADD COLUMN level VARCHAR(8) NOT NULL DEFAULT ''`,
    ],
  },
];
