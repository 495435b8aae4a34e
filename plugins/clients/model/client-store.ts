// What other plugins read and count of clients, and the memory that they read it from.
import type { Database, Principal, Projection, Tx } from '../../../kernel/index.js';
import {
  afterClientSwitch,
  type ClientChange,
  type ClientsApi,
  type ClientUsage,
  duringClientSave,
} from '../contract.js';
import { addUsage } from '../usage/counters.js';
import { addRetained, type RetainedBytes } from '../usage/retained-usage.js';
import { SubscriptionFetches } from '../usage/subscription-fetches.js';
import { decideEnabled, depletionOf, isSameSwitch } from './depletion.js';
import type { UniqueField } from './fields.js';
import { Roster, type RosterChange } from './roster.js';
import type { ClientRow } from './row.js';
import { type FieldEdit, updateClients } from './statements.js';
import { storedLimits } from './stored-limits.js';

export class ClientStore implements ClientsApi {
  readonly #db: Database;
  /** Its `lastSubFetch` is ahead of the database until `fetches.flush`; all else is equal after each write. */
  readonly projection: Projection<Roster, RosterChange>;
  readonly fetches: SubscriptionFetches;

  constructor({ db }: { db: Database }) {
    this.#db = db;
    this.projection = db.projection<Roster, RosterChange>({
      load: () => Roster.load(db),
      apply: (roster, change) => roster.apply(change),
    });
    this.fetches = new SubscriptionFetches(db, (tx, fetches) => this.change(tx, { fetches }));
  }

  /** Throws a 503 while it is loaded again. */
  get roster(): Roster {
    return this.projection.state;
  }
  /** Brings a change into memory with the commit. */
  change(tx: Tx, change: RosterChange): void {
    tx.apply(this.projection, change);
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
  owner(field: UniqueField, value: string): ClientRow | undefined {
    return this.roster.owner(field, value);
  }
  sharing(subId: string): readonly ClientRow[] | undefined {
    return this.roster.sharing(subId);
  }
  all(): Iterable<Readonly<ClientRow>> {
    return this.roster.ordered('id');
  }

  async expired(now: number): Promise<number[]> {
    const rows = await this.#db.query<{ id: number }>(
      'SELECT id FROM clients WHERE enable = 1 AND expiry_time > 0 AND expiry_time <= :now',
      { now },
    );
    return rows.map(({ id }) => id);
  }

  async expiring(after: number, until: number): Promise<number[]> {
    const rows = await this.#db.query<{ id: number }>(
      'SELECT id FROM clients WHERE enable = 1 AND expiry_time > :after AND expiry_time <= :until',
      { after, until },
    );
    return rows.map(({ id }) => id);
  }

  async atLimit(tx: Tx, ids: readonly number[], now: number): Promise<Set<number>> {
    const stored = [...(await storedLimits(tx, ids)).values()];
    const due = stored.filter((client) => client.enable && depletionOf(client, now));
    return new Set(due.map(({ id }) => id));
  }

  async addUsage(tx: Tx, usage: readonly ClientUsage[], at: number): Promise<void> {
    if (usage.length === 0) return;
    await addUsage(tx, usage, at);
    this.change(tx, { usage, at });
  }

  async addKeptUsage(tx: Tx, usage: readonly RetainedBytes[], at: number): Promise<void> {
    if (usage.length > 0) await addRetained(tx, usage, at);
  }

  async startExpiry(tx: Tx, ids: readonly number[], now: number, who: Principal): Promise<void> {
    if (ids.length === 0) return;
    // Not from memory, which may lack the write before this one: an admin's new expiry must stay.
    const rows = await tx.query<{ id: number; duration: number }>(
      'SELECT id, -expiry_time AS duration FROM clients WHERE id IN (:ids) AND expiry_time < 0',
      { ids },
    );
    const edits = rows.map(({ id, duration }) => ({
      id,
      fields: { expiryTime: Math.min(now + duration, Number.MAX_SAFE_INTEGER) },
    }));
    await this.#saveLimits(tx, edits, who);
  }

  async setElsewhere(
    tx: Tx,
    usage: readonly { readonly id: number; readonly up: number; readonly down: number }[],
    now: number,
    who: Principal,
  ): Promise<Set<number>> {
    const stored = await storedLimits(
      tx,
      usage.map(({ id }) => id),
    );
    const counters: FieldEdit[] = [];
    const switched: FieldEdit[] = [];
    for (const { id, up: elsewhereUp, down: elsewhereDown } of usage) {
      const before = stored.get(id);
      if (!before) continue;
      counters.push({ id, fields: { elsewhereUp, elsewhereDown } });
      const next = decideEnabled({ ...before, elsewhereUp, elsewhereDown }, now);
      if (!isSameSwitch(next, before)) switched.push({ id, fields: next });
    }
    await updateClients(tx, counters);
    this.change(tx, { edited: counters });
    await this.#saveLimits(tx, switched, who);
    return new Set(switched.map(({ id }) => id));
  }

  async deplete(
    tx: Tx,
    clients: readonly { readonly id: number; readonly cause: 'quota' | 'expiry' }[],
    who: Principal,
  ): Promise<void> {
    const edits = clients.map(({ id, cause }) => ({ id, fields: { enable: false, depletedCause: cause } }));
    await this.#saveLimits(tx, edits, who);
  }

  /** Calls only during hooks: a limit is not an admin's edit. */
  async #saveLimits(tx: Tx, edits: readonly FieldEdit[], who: Principal): Promise<void> {
    if (edits.length === 0) return;
    await updateClients(tx, edits);
    this.change(tx, { edited: edits });
    const changes = edits.flatMap(({ id, fields }): ClientChange[] => {
      const row = this.roster.byId(id);
      return row ? [{ kind: 'updated', before: { ...row }, after: { ...row, ...fields } }] : [];
    });
    await tx.during(duringClientSave, { changes, who });
    const ids = edits.flatMap(({ id, fields }) => (fields.enable === undefined ? [] : [id]));
    if (ids.length > 0) tx.after(afterClientSwitch, { ids });
  }

  fetched(clientId: number, at: number): void {
    const row = this.roster.byId(clientId);
    if (row) this.fetches.record(row, at);
  }
}
