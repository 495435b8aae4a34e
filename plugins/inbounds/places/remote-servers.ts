// Changes of inbounds and users that no plugin brings to their node: the reply says so, in place of a success.
import type { Applied, UserRef, UserServer } from '../../engine/contract.js';
import { DONE } from '../../engine/contract.js';
import type { InboundChange } from '../contract.js';
import type { Inbound } from '../fields.js';
import { type Places, runsHere } from './places.js';

interface Needs {
  readonly store: { get(id: number): Inbound | undefined };
  readonly places: Places;
}

export class RemoteServers implements UserServer {
  readonly last = true;
  readonly #needs: Needs;
  /** inbounds of nodes that changed since the last `reconcileInbounds` */
  #changed = new Map<number, Inbound>();

  constructor({ store, places }: Needs) {
    this.#needs = { store, places };
  }

  /** Call it after the commit. */
  saved(changes: readonly InboundChange[]): void {
    // What no plugin brought to its node needs no plugin that takes it away.
    for (const { after } of changes) if (after && !runsHere(after)) this.#changed.set(after.id, after);
  }

  serves(inboundId: number): boolean {
    const inbound = this.#needs.store.get(inboundId);
    return inbound !== undefined && !runsHere(inbound);
  }

  async reconcileUsers(users: readonly UserRef[]): Promise<Applied> {
    const inbound = this.#needs.store.get(users[0]?.inboundId ?? 0);
    return inbound ? this.#pending(inbound) : DONE;
  }

  async reconcileInbounds(isServed: (inboundId: number) => boolean): Promise<Applied> {
    const changed = this.#changed;
    this.#changed = new Map();
    for (const [id, inbound] of changed) if (!isServed(id)) return this.#pending(inbound);
    return DONE;
  }

  #pending(inbound: Inbound): Applied {
    const { name } = this.#needs.places.of(inbound);
    return { pending: true, reason: 'no plugin brings changes to it', node: name };
  }
}
