// The users that the core has to know: each enabled client once for each inbound that it is attached to.
import { type CoreUser, type CoreUserSource, userName, type UserRef } from '../../engine/contract.js';
import { accountOf, type InboundsApi } from '../../inbounds/contract.js';
import type { ClientStore } from './client-store.js';
import type { ClientRow } from './row.js';

export class ClientCoreUsers implements CoreUserSource {
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;

  constructor({ store, inbounds }: { store: ClientStore; inbounds: InboundsApi }) {
    this.#store = store;
    this.#inbounds = inbounds;
  }

  user({ inboundId, clientId }: UserRef): CoreUser | undefined {
    const row = this.#store.roster.byId(clientId);
    return row?.inboundIds.includes(inboundId) ? this.#coreUser(row, inboundId) : undefined;
  }

  *users(inboundId: number): Iterable<CoreUser> {
    // Clients share their lists of inbounds, so that a pass over clients of other inbounds costs a comparison each.
    let last: readonly number[] = [];
    let isAttached = false;
    for (const row of this.#store.roster.ordered('id')) {
      if (row.inboundIds !== last) {
        last = row.inboundIds;
        isAttached = last.includes(inboundId);
      }
      const user = isAttached ? this.#coreUser(row, inboundId) : undefined;
      if (user) yield user;
    }
  }

  #coreUser(row: ClientRow, inboundId: number): CoreUser | undefined {
    const inbound = this.#inbounds.get(inboundId);
    const protocol = inbound && this.#inbounds.protocol(inbound.protocol);
    if (!row.enable || !inbound || !protocol || protocol.runBy === 'program') return undefined;
    const account = accountOf(protocol, row, inbound);
    return account && { name: userName({ inboundId, clientId: row.id }), account };
  }
}
