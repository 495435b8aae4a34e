// What other plugins ask of clients and write about them; memory follows each commit.
import { after, type Database, type Principal, type Tx } from '../../kernel/index.js';
import type { CoreUser, CoreUserSource, UserRef } from '../engine/contract.js';
import { userName } from '../engine/contract.js';
import { accountOf, type InboundsApi } from '../inbounds/contract.js';
import { type ClientChange, type ClientsApi, type ClientUsage, duringClientSave } from './contract.js';
import { addKept } from './kept.js';
import { Roster } from './roster.js';
import type { ClientFields, ClientRow } from './row.js';
import { addUsage, saveFetches, updateClient } from './sql.js';

/** Internal to this plugin. */
export interface ClientPatched {
  readonly id: number;
  readonly fields: Partial<ClientFields & Pick<ClientRow, 'up' | 'down'>>;
  /** Differences, not results: two calls at the same time both count. */
  readonly attach?: readonly number[];
  readonly detach?: readonly number[];
}
export const afterClientPatch = after<readonly ClientPatched[]>('clients/afterClientPatch');
export const afterClientUsage = after<{ readonly usage: readonly ClientUsage[]; readonly at: number }>(
  'clients/afterClientUsage',
);

export class ClientStore implements ClientsApi, CoreUserSource {
  readonly #db: Database;
  readonly #inbounds: InboundsApi;
  readonly roster = new Roster();
  /** Who fetched since the last write, each once: their rows know when. */
  #fetched: ClientRow[] = [];
  #firstFetch = 0;

  constructor({ db, inbounds }: { db: Database; inbounds: InboundsApi }) {
    this.#db = db;
    this.#inbounds = inbounds;
  }

  byId(id: number): ClientRow | undefined {
    return this.roster.byId(id);
  }
  byEmail(email: string): ClientRow | undefined {
    return this.roster.byEmail(email);
  }
  bySubId(subId: string): ClientRow | undefined {
    return this.roster.bySubId(subId);
  }
  all(): Iterable<Readonly<ClientRow>> {
    return this.roster.ordered('id');
  }

  user({ inboundId, clientId }: UserRef): CoreUser | undefined {
    const row = this.roster.byId(clientId);
    return row?.inboundIds.includes(inboundId) ? this.#coreUser(row, inboundId) : undefined;
  }
  *users(inboundId: number): Iterable<CoreUser> {
    for (const row of this.roster.ordered('id')) {
      const user = row.inboundIds.includes(inboundId) ? this.#coreUser(row, inboundId) : undefined;
      if (user) yield user;
    }
  }
  #coreUser(row: ClientRow, inboundId: number): CoreUser | undefined {
    const inbound = this.#inbounds.get(inboundId);
    const protocol = inbound && this.#inbounds.protocol(inbound.protocol);
    if (!row.enable || !inbound || !protocol) return undefined;
    const account = accountOf(protocol, row, inbound);
    return account && { name: userName({ inboundId, clientId: row.id }), account };
  }

  async expired(now: number): Promise<number[]> {
    return (
      await this.#db.query<{ id: number }>(
        'SELECT id FROM clients WHERE enable = 1 AND expiry_time > 0 AND expiry_time <= :now',
        { now },
      )
    ).map(({ id }) => id);
  }

  async addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void> {
    if (usage.length === 0) return;
    await addUsage(tx, usage, at);
    tx.after(afterClientUsage, { usage, at });
  }

  async addKeptUsage(
    tx: Tx,
    usage: readonly (Omit<ClientUsage, 'clientId'> & { readonly email: string })[],
    at: number,
  ): Promise<void> {
    if (usage.length > 0) await addKept(tx, usage, at);
  }

  async startExpiry(tx: Tx, ids: readonly number[], now: number, who: Principal): Promise<void> {
    await this.#patch(
      tx,
      ids.flatMap((id) => {
        const row = this.roster.byId(id);
        return row && row.expiryTime < 0
          ? [{ id, fields: { expiryTime: Math.min(now - row.expiryTime, Number.MAX_SAFE_INTEGER) } }]
          : [];
      }),
      who,
    );
  }

  async deplete(
    tx: Tx,
    clients: readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
    who: Principal,
  ): Promise<void> {
    await this.#patch(
      tx,
      clients.map(({ id, cause }) => ({ id, fields: { enable: false, depletedCause: cause } })),
      who,
    );
  }

  async #patch(
    tx: Tx,
    patches: readonly { id: number; fields: Partial<ClientFields> }[],
    who: Principal,
  ): Promise<void> {
    if (patches.length === 0) return;
    for (const { id, fields } of patches) await updateClient(tx, id, fields);
    const changes = patches.flatMap(({ id, fields }): ClientChange[] => {
      const row = this.roster.byId(id);
      return row ? [{ kind: 'updated', before: { ...row }, after: { ...row, ...fields } }] : [];
    });
    await tx.during(duringClientSave, { changes, who });
    tx.after(afterClientPatch, patches);
  }

  /** The hot path of subscriptions: one look-up, and an entry in a list for the first fetch of a client since the last write. */
  fetched(clientId: number, at: number): void {
    const row = this.roster.byId(clientId);
    if (!row) return;
    if (this.#fetched.length === 0) this.#firstFetch = at;
    if (row.lastSubFetch < this.#firstFetch) this.#fetched.push(row);
    row.lastSubFetch = at;
  }

  /** A job calls it; one write for all fetches of the last seconds. */
  async flushFetches(): Promise<void> {
    if (this.#fetched.length === 0) return;
    const fetches = this.#fetched.map(({ id, lastSubFetch }) => [id, lastSubFetch] as const);
    this.#fetched = [];
    await this.#db.write((tx) => saveFetches(tx, fetches));
  }
}
