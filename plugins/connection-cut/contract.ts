// Open connections of users, as far as they are known one by one, and closing some of them.
import { token } from '../../kernel/index.js';
import type { UserRef } from '../engine/contract.js';

/** A TCP connection that only this user has. */
export interface OpenConnection extends UserRef {
  /** canonical, see `canonicalAddress` */
  readonly address: string;
  /** names both ends */
  readonly key: string;
}

/** Knows connections that the core's log named and that come directly: see the README for those that stay unknown. */
export interface OpenConnectionsApi {
  /** Open connections of these users; none while they cannot be closed here, or `engineCutConnections` is off. Reads the kernel's table once. Rejects when that fails. */
  of(users: readonly UserRef[]): Promise<readonly OpenConnection[]>;
  /** Closes those of them that are still open; everything else of these users stays open. Resolves with their number. */
  close(connections: readonly OpenConnection[]): Promise<number>;
}
export const OpenConnections = token<OpenConnectionsApi>('connection-cut', 'OpenConnections');
