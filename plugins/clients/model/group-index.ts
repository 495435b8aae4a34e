// Finds the clients of a group: a page of one group must not cost a pass over all clients.
import type { ClientRow } from './row.js';

type Member = Pick<ClientRow, 'id' | 'group'>;
const NOBODY: ReadonlySet<number> = new Set();

export class GroupIndex {
  readonly #members = new Map<string, Set<number>>();

  add({ id, group }: Member): void {
    if (group === '') return;
    const members = this.#members.get(group);
    if (members) members.add(id);
    else this.#members.set(group, new Set([id]));
  }

  /** The group of the row must be the one with which it was added. */
  delete({ id, group }: Member): void {
    const members = this.#members.get(group);
    members?.delete(id);
    if (members?.size === 0) this.#members.delete(group);
  }

  /** Ids of the clients in a group, with the case of its name. Live: do not keep it. */
  idsOf(group: string): ReadonlySet<number> {
    return this.#members.get(group) ?? NOBODY;
  }

  /** Names of the groups that have clients. */
  names(): Iterable<string> {
    return this.#members.keys();
  }
}
