// An admin as a row, and as it is known in memory.
import type { Row } from '../../kernel/index.js';
import type { AdminFacts } from './contract.js';
import type { tables } from './tables.js';

export type Admin = Row<typeof tables.admins>;
/** What is known of an admin in memory: a request costs no query. */
export type KnownAdmin = Omit<Admin, 'passwordHash' | 'codeStep'>;
/** Rows that were written, or ids of those that were deleted. */
export type AdminEdit = { readonly rows: readonly KnownAdmin[] } | { readonly deleted: readonly number[] };

/** MariaDB gives 1 and 0 for booleans. */
export const knownOf = ({ id, username, createdAt, roleId, enabled }: KnownAdmin): KnownAdmin => ({
  id,
  username,
  createdAt,
  roleId,
  enabled: Boolean(enabled),
});
export const factsOf = ({ username, roleId, enabled }: Omit<KnownAdmin, 'id' | 'createdAt'>): AdminFacts => ({
  username,
  role: roleId,
  enabled: Boolean(enabled),
});
/** One who can log in and may do everything. */
export const isFull = ({ roleId, enabled }: KnownAdmin): boolean => enabled && roleId === 0;
