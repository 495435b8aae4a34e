// The roles, which another plugin knows. Where it does not run, a role allows nothing.
import type { PluginContext, Tx } from '../../kernel/index.js';
import { type CalledRoute, RoleRights } from './contract.js';
import { errors } from './errors.js';

export class KnownRoles {
  readonly #contributions: PluginContext['contributions'];

  constructor({ contributions }: { contributions: PluginContext['contributions'] }) {
    this.#contributions = contributions;
  }

  get #rights(): RoleRights | undefined {
    return this.#contributions(RoleRights)[0]?.value;
  }

  /** As of RoleRights. */
  lacks(role: number, call: CalledRoute): string | undefined {
    return this.#rights ? this.#rights.lacks(role, call) : '';
  }

  mayRead(role: number, plugin: string): boolean {
    return this.#rights?.mayRead(role, plugin) ?? false;
  }

  nameOf(role: number): string {
    return this.#rights?.nameOf(role) ?? '';
  }

  async requireKnown(tx: Tx, role: number, path: string): Promise<void> {
    if (!this.#rights)
      throw errors.NO_ROLES(`${path}: there are no roles, because the plugin roles does not run`, { path });
    await this.#rights.requireKnown(tx, role, path);
  }
}
