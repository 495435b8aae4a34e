// Whose a client is: full admins assign and release clients, and what others than the reseller do with a client is noted
// here, in the transaction that does it.
import {
  type Clock,
  type Database,
  type Log,
  type Principal,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import type { ClientChange, ClientRow, ClientsApi, SettledEditsApi } from '../clients/contract.js';
import { grantedByOthers } from './charge.js';
import { errors } from './errors.js';
import type { ResellerMemory } from './reseller-state.js';
import type { ResellerStore } from './reseller-store.js';
import type { Scopes } from './scope.js';
import type { Owned } from './tables.js';

const IDS_PER_STATEMENT = 1000;
const COLUMNS = {
  client_id: 'integer',
  reseller_id: 'integer',
  granted: 'integer',
  held: 'integer',
  gone_at: 'integer',
} as const;

/** Rows that say something else than the clients. */
const LATE = `SELECT o.client_id AS id FROM reseller_clients o LEFT JOIN clients c ON c.id = o.client_id
  WHERE (o.gone_at = 0 AND (c.id IS NULL OR c.total_gb > o.granted)) OR (o.gone_at <> 0 AND c.id IS NOT NULL)`;

type Limits = Pick<ClientRow, 'totalGB' | 'up' | 'down' | 'elsewhereUp' | 'elsewhereDown'>;
const accountOf = ({ totalGB, up, down, elsewhereUp, elsewhereDown }: Limits) => ({
  limit: totalGB,
  used: up + down + elsewhereUp + elsewhereDown,
});
/** Disabled by somebody, and not by a limit. */
const isHeld = (row: Pick<ClientRow, 'enable' | 'depletedCause'> | undefined): boolean =>
  row?.enable === false && row.depletedCause === null;

export interface Assigned {
  readonly changed: number;
  /** emails that no client has */
  readonly unknown: readonly string[];
}

export class Ownership {
  readonly #db: Database;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #memory: ResellerMemory;
  readonly #store: ResellerStore;
  readonly #scopes: Scopes;
  readonly #clients: ClientsApi;
  readonly #edits: SettledEditsApi;
  readonly #audit: AuditTrailApi | undefined;

  constructor(needs: {
    db: Database;
    log: Log;
    clock: Clock;
    memory: ResellerMemory;
    store: ResellerStore;
    scopes: Scopes;
    clients: ClientsApi;
    edits: SettledEditsApi;
    audit?: AuditTrailApi | undefined;
  }) {
    this.#db = needs.db;
    this.#log = needs.log;
    this.#clock = needs.clock;
    this.#memory = needs.memory;
    this.#store = needs.store;
    this.#scopes = needs.scopes;
    this.#clients = needs.clients;
    this.#edits = needs.edits;
    this.#audit = needs.audit;
  }

  /** Gives clients to a reseller, or to nobody (0), with the limits that they have: no quota stops it, and no bytes are counted. All of them or none. */
  async assign(resellerId: number, emails: readonly string[], who: Principal): Promise<Assigned> {
    const rows = new Map<number, ClientRow>();
    const unknown: string[] = [];
    for (const email of emails) {
      const row = this.#clients.byEmail(email.trim());
      if (!row) unknown.push(email);
      // Its subscription would show the links of the other one.
      else if (resellerId !== 0 && this.#clients.sharing(row.subId))
        throw errors.SHARED(`emails: another client has the subscription of ${row.email}`, {
          path: 'emails',
        });
      else rows.set(row.id, row);
    }
    const ids = [...rows.keys()];
    const changed = await this.#db.write(async (tx) => {
      if (resellerId !== 0) await this.#store.read(tx, resellerId);
      const before = await this.#read(tx, ids);
      const stored = await this.#edits.limitsOf(tx, ids);
      const moved = ids.filter((id) => stored.has(id) && ownerIn(before, id) !== resellerId);
      if (resellerId === 0) await this.#forget(tx, moved);
      else
        await this.#write(
          tx,
          moved.flatMap((id) => {
            const limits = stored.get(id);
            if (!limits) return [];
            const granted = grantedByOthers(accountOf(limits), 0, true);
            return { clientId: id, resellerId, granted, held: isHeld(limits), goneAt: 0 };
          }),
        );
      tx.apply(this.#memory.projection, { owners: moved.map((id) => [id, resellerId] as const) });
      const nameOf = (reseller: number) => this.#memory.find(reseller)?.name ?? '';
      await this.#audit?.record(
        tx,
        'client-owner',
        who,
        moved.map((id) => ({
          kind: 'updated',
          name: rows.get(id)?.email ?? '',
          id,
          before: { reseller: nameOf(ownerIn(before, id)) },
          after: { reseller: nameOf(resellerId) },
        })),
      );
      return moved.length;
    });
    return { changed, unknown };
  }

  /** Finds what was done with clients of resellers while this plugin did not run: deletions, undos of them, and higher limits, which others gave. */
  async start(): Promise<void> {
    if ((await this.#db.query<{ id: number }>(`${LATE} LIMIT 1`)).length === 0) return;
    await this.#db.write(async (tx) => {
      const ids = (await tx.query<{ id: number }>(LATE)).map(({ id }) => id);
      const stored = await this.#edits.limitsOf(tx, ids);
      const next = [...(await this.#read(tx, ids)).values()].map((row) => {
        const limits = stored.get(row.clientId);
        if (!limits) return { ...row, goneAt: this.#clock.now() };
        return { ...row, granted: grantedByOthers(accountOf(limits), row.granted, false), goneAt: 0 };
      });
      await this.#write(tx, next);
      tx.apply(this.#memory.projection, { owners: next.map(ownerOf) });
      this.#log.info('clients of resellers were changed while resellers were off', { count: ids.length });
    });
  }

  /** Follows a write of clients. What a reseller does is counted by the ledger; an admin with another role may have his row. */
  async follow(
    tx: Tx,
    { changes, who }: { readonly changes: readonly ClientChange[]; readonly who: Principal },
  ): Promise<void> {
    if (this.#memory.isEmpty()) return;
    if (changes.every(({ isSettled }) => isSettled) && this.#isReseller(who)) return;
    const ids = changes.flatMap(({ before, after }) => (after ?? before)?.id ?? []);
    const known = await this.#read(tx, ids);
    if (known.size === 0) return;
    const next: Owned[] = [];
    const slice = new TimeSlice();
    for (const change of changes) {
      if (slice.isOver) await slice.next();
      const row = known.get((change.after ?? change.before)?.id ?? 0);
      if (row) next.push(this.#after(row, change));
    }
    const changed = next.filter((row) => !isSame(row, known.get(row.clientId)));
    await this.#write(tx, changed);
    const owners = changed
      .filter(({ clientId, goneAt }) => goneAt !== known.get(clientId)?.goneAt)
      .map(ownerOf);
    if (owners.length > 0) tx.apply(this.#memory.projection, { owners });
  }

  #after(row: Owned, { before, after, setsUsage }: ClientChange): Owned {
    if (!after) return { ...row, goneAt: this.#clock.now() };
    const isOther = before !== undefined && isHeld(before) !== isHeld(after);
    return {
      ...row,
      granted: grantedByOthers(accountOf(after), row.granted, setsUsage === true),
      held: isOther ? isHeld(after) : row.held,
      goneAt: 0,
    };
  }

  #isReseller(who: Principal): boolean {
    try {
      return this.#scopes.callerOf(who) !== undefined;
    } catch {
      // The admin is gone: nothing more comes from him.
      return false;
    }
  }

  async #read(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, Owned>> {
    const found = new Map<number, Owned>();
    for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT) {
      const rows = await tx.query<Owned>(
        'SELECT client_id AS "clientId", reseller_id AS "resellerId", granted, held, gone_at AS "goneAt" FROM reseller_clients WHERE client_id IN (:ids)',
        { ids: ids.slice(from, from + IDS_PER_STATEMENT) },
      );
      for (const row of rows) found.set(row.clientId, { ...row, held: Boolean(row.held) });
    }
    return found;
  }

  async #write(tx: Tx, rows: readonly Owned[]): Promise<void> {
    const { incoming, onConflict } = tx.sql;
    const set = Object.keys(COLUMNS)
      .slice(1)
      .map((name) => `${name} = ${incoming(name)}`)
      .join(', ');
    for (let from = 0; from < rows.length; from += IDS_PER_STATEMENT)
      await tx.run(
        `INSERT INTO reseller_clients (client_id, reseller_id, granted, held, gone_at)
         SELECT j.client_id, j.reseller_id, j.granted, j.held, j.gone_at FROM ${tx.sql.rows(COLUMNS)} AS j WHERE true
         ${onConflict('client_id', set)}`,
        {
          rows: JSON.stringify(
            rows
              .slice(from, from + IDS_PER_STATEMENT)
              .map(({ clientId, resellerId, granted, held, goneAt }) => [
                clientId,
                resellerId,
                granted,
                Number(held),
                goneAt,
              ]),
          ),
        },
      );
  }

  async #forget(tx: Tx, ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += IDS_PER_STATEMENT)
      await tx.run('DELETE FROM reseller_clients WHERE client_id IN (:ids)', {
        ids: ids.slice(from, from + IDS_PER_STATEMENT),
      });
  }
}

const ownerIn = (known: ReadonlyMap<number, Owned>, id: number): number => known.get(id)?.resellerId ?? 0;
/** As memory has it: whose it is while it is there. */
const ownerOf = ({ clientId, resellerId, goneAt }: Owned): readonly [client: number, reseller: number] => [
  clientId,
  goneAt === 0 ? resellerId : 0,
];
const isSame = (a: Owned, b: Owned | undefined): boolean =>
  a.granted === b?.granted && a.held === b.held && a.goneAt === b.goneAt;
