// Admins and API tokens that have a role.
import type { Tx } from '../../kernel/index.js';
import type { Admins } from './admins.js';
import type { Callers } from './callers.js';
import type { RoleHoldersApi } from './contract.js';
import type { AccessTables } from './tables.js';
import type { Tokens } from './tokens.js';

export class Holders implements RoleHoldersApi {
  readonly #tables: AccessTables;
  readonly #admins: Admins;
  readonly #tokens: Tokens;
  readonly #callers: Callers;

  constructor(parts: { tables: AccessTables; admins: Admins; tokens: Tokens; callers: Callers }) {
    this.#tables = parts.tables;
    this.#admins = parts.admins;
    this.#tokens = parts.tokens;
    this.#callers = parts.callers;
  }

  count(role: number): { admins: number; tokens: number } {
    const admins = [...this.#admins.projection.state.values()].filter(({ roleId }) => roleId === role);
    const tokens = this.#tokens.list().filter((token) => token.role === role);
    return { admins: admins.length, tokens: tokens.length };
  }

  async isHeld(tx: Tx, role: number): Promise<boolean> {
    const held = { where: { roleId: role }, transaction: tx.t };
    return (await this.#tables.admins.count(held)) > 0 || (await this.#tables.tokens.count(held)) > 0;
  }

  changed(): void {
    this.#callers.changed();
  }
}
