// The users that the core and the programs beside it have to know: each enabled client once for each inbound that it is attached to.
import {
  type CoreUser,
  type CoreUserSource,
  type EngineApi,
  userName,
  type UserRef,
} from '../../engine/contract.js';
import { accountOf, type InboundsApi, type LocalInboundsApi } from '../../inbounds/contract.js';
import type { OthersWrote } from '../../cluster/contract.js';
import {
  afterClientSave,
  afterClientSwitch,
  type ProgramUsersApi,
  type SavedClients,
  type Withheld,
  type WithheldUsersApi,
} from '../contract.js';
import { refsOf } from '../edits/edit.js';
import type { ClientStore } from './client-store.js';
import type { ClientRow } from './row.js';

type RunBy = 'core' | 'program';

export class ClientCoreUsers implements CoreUserSource, WithheldUsersApi {
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  /** Nobody serves users of other machines here. */
  readonly #local: LocalInboundsApi;
  readonly #engine: EngineApi;
  /** of all plugins together, and of each */
  #withheld: Withheld = { clients: new Set(), inbounds: new Set() };
  readonly #withheldBy = new Map<string, Withheld>();

  constructor({
    store,
    inbounds,
    localInbounds,
    engine,
  }: { store: ClientStore; inbounds: InboundsApi; localInbounds: LocalInboundsApi; engine: EngineApi }) {
    this.#local = localInbounds;
    this.#store = store;
    this.#inbounds = inbounds;
    this.#engine = engine;
  }

  async replace(by: string, users: Withheld): Promise<void> {
    const { clients, inbounds } = this.#withheld;
    this.#withheldBy.set(by, users);
    const all = [...this.#withheldBy.values()];
    const next = {
      clients: new Set(all.flatMap((one) => [...one.clients])),
      inbounds: new Set(all.flatMap((one) => [...one.inbounds])),
    };
    this.#withheld = next;
    const changed = changes(clients, next.clients);
    const changedInbounds = changes(inbounds, next.inbounds);
    if (changed.size + changedInbounds.size === 0) return;
    const rows =
      changedInbounds.size > 0 ? this.#store.all() : [...changed].flatMap((id) => this.#store.byId(id) ?? []);
    const refs: UserRef[] = [];
    for (const { id: clientId, inboundIds } of rows)
      for (const inboundId of inboundIds)
        if (changed.has(clientId) || changedInbounds.has(inboundId)) refs.push({ inboundId, clientId });
    await this.#engine.reconcileUsers(refs);
  }

  /** Another panel of the database has changed clients; its own core, if it runs one, knows already. */
  async followOthers(told: OthersWrote['told']): Promise<void> {
    const rows = told.flatMap(({ hook, payload }): (Readonly<ClientRow> | undefined)[] => {
      if (hook === afterClientSave.id)
        return (payload as SavedClients).changes.flatMap(({ before, after }) => [before, after]);
      return hook === afterClientSwitch.id
        ? (payload as { readonly ids: readonly number[] }).ids.map((id) => this.#store.byId(id))
        : [];
    });
    const users = rows.flatMap((row) => (row ? refsOf(row) : []));
    if (users.length > 0) await this.#engine.reconcileUsers(users);
  }

  user(ref: UserRef): CoreUser | undefined {
    return this.#user(ref, 'core');
  }

  users(inboundId: number): Iterable<CoreUser> {
    return this.#users(inboundId, 'core');
  }

  /** The same for inbounds that programs run. */
  readonly ofPrograms: ProgramUsersApi = {
    user: (ref) => this.#user(ref, 'program'),
    users: (inboundId) => this.#users(inboundId, 'program'),
    attached: (inboundId) => [...this.#attached(inboundId)].map(({ id }) => id),
    isAttached: ({ inboundId, clientId }) =>
      this.#store.roster.byId(clientId)?.inboundIds.includes(inboundId) === true,
  };

  #user({ inboundId, clientId }: UserRef, by: RunBy): CoreUser | undefined {
    const row = this.#store.roster.byId(clientId);
    return row?.inboundIds.includes(inboundId) ? this.#userOf(row, inboundId, by) : undefined;
  }

  *#users(inboundId: number, by: RunBy): Iterable<CoreUser> {
    for (const row of this.#attached(inboundId)) {
      const user = this.#userOf(row, inboundId, by);
      if (user) yield user;
    }
  }

  *#attached(inboundId: number): Iterable<ClientRow> {
    // Clients share their lists of inbounds, so that a pass over clients of other inbounds costs a comparison each.
    let last: readonly number[] = [];
    let isAttached = false;
    for (const row of this.#store.roster.ordered('id')) {
      if (row.inboundIds !== last) {
        last = row.inboundIds;
        isAttached = last.includes(inboundId);
      }
      if (isAttached) yield row;
    }
  }

  #userOf(row: ClientRow, inboundId: number, by: RunBy): CoreUser | undefined {
    const inbound = this.#local.get(inboundId);
    const protocol = inbound && this.#inbounds.protocol(inbound.protocol);
    if (this.#withheld.clients.has(row.id) || this.#withheld.inbounds.has(inboundId)) return undefined;
    if (!row.enable || !inbound || !protocol || (protocol.runBy ?? 'core') !== by) return undefined;
    const account = accountOf(protocol, row, inbound);
    return account && { name: userName({ inboundId, clientId: row.id }), account };
  }
}

/** What is in one of them only. */
const changes = (before: ReadonlySet<number>, after: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...[...before].filter((id) => !after.has(id)), ...[...after].filter((id) => !before.has(id))]);
