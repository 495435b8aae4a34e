// Single connections of users who stay: for plugins that close some of them.
import { canonicalAddress } from '../../kernel/index.js';
import { type UserRef, userName, userOf } from '../engine/contract.js';
import { written } from './address.js';
import type { OpenConnection, OpenConnectionsApi } from './contract.js';
import type { Cutter } from './cutter.js';
import { addressIn } from './socket-table.js';

export class OpenConnections implements OpenConnectionsApi {
  readonly #cutter: Pick<Cutter, 'openOf' | 'closeOpen'>;

  constructor({ cutter }: { cutter: Pick<Cutter, 'openOf' | 'closeOpen'> }) {
    this.#cutter = cutter;
  }

  async of(users: readonly UserRef[]): Promise<readonly OpenConnection[]> {
    const open = await this.#cutter.openOf(users.map(userName));
    return open.flatMap(({ user, key }) => {
      const ref = userOf(user);
      const address = canonicalAddress(written(addressIn(key)));
      return ref && address !== undefined ? [{ ...ref, address, key }] : [];
    });
  }

  close(connections: readonly OpenConnection[]): Promise<number> {
    return this.#cutter.closeOpen(
      [...new Set(connections.map(userName))],
      new Set(connections.map(({ key }) => key)),
    );
  }
}
